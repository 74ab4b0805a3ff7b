// The wizard's manners. Every field saves itself by htmx; without this script the pages still post.
const wizard = document.getElementById("wizard");
const form = document.getElementById("wizard-form");
const side = document.getElementById("wizard-side");
const status = document.getElementById("status");

// Typing is kept too, but only leaving a field makes it say what is wrong; an item is left when
// all that it needs is there.
const CLICKED = "input[type=radio], input[type=checkbox], select";
const unfinished = (item) => [...item?.querySelectorAll("[aria-required]") ?? []].some((input) => !input.value);
document.body.addEventListener("htmx:configRequest", (event) => {
  const by = event.detail.triggeringEvent;
  if (by?.type === "change" && unfinished(by.target.closest(".item"))) event.detail.parameters.typing = "1";
  if (by?.type !== "input" || by.target.type === "search") return;
  if (by.target.matches(CLICKED) || by.target !== document.activeElement) event.preventDefault();
  else if (!event.detail.elt.hasAttribute("data-live")) event.detail.parameters.typing = "1";
});

// Requests may overtake one another: each says which page sent it, and when.
const TAB = Math.random().toString(36).slice(2);
let sent = 0;
const stamp = () => ({ tab: TAB, sent: String(sent = Math.max(sent + 1, Date.now())) });
document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "post") Object.assign(detail.parameters, stamp());
});

// The notes below a field came anew: the field says whether it is wrong.
function markInvalid() {
  for (const notes of wizard.querySelectorAll(".notes[data-for]")) {
    const input = document.getElementById(notes.dataset.for);
    if (!input?.matches("input, textarea, select, [role=radiogroup]")) continue;
    if ("invalid" in notes.dataset) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  markInvalid();
  if (event.detail.requestConfig.verb === "post") document.getElementById("wizard-refused")?.remove();
  const left = event.detail.requestConfig.triggeringEvent?.type === "change" && event.detail.elt;
  const wrong = left && left.querySelector?.(".errorlist li");
  if (wrong) status.textContent = wrong.textContent;
});

// An asset made in the drawer is chosen where its button stands.
document.body.addEventListener("asset-created", (event) => {
  const { kind, id, slot } = event.detail;
  const name = `${slot}-${kind}`;
  if (!document.getElementById(`${name}-gallery`)) return;
  htmx.ajax("POST", wizard.dataset.save, {
    source: `#${name}-gallery`, target: `#${name}-gallery`, swap: "outerHTML", values: { [name]: id, gallery: name },
  }).then(() => document.getElementById(`${name}-${id}`)?.focus());
});

// A link to a field opens the fold around it and puts the cursor there.
function visit() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || !wizard.contains(target)) return;
  target.closest("details")?.setAttribute("open", "");
  side.removeAttribute("data-open");
  const inside = target.matches("input, textarea, select") ? target : target.querySelector("input:checked, input:not([type=hidden], [type=search], :disabled)");
  (inside ?? target).focus({ preventScroll: true });
  target.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", visit);
wizard.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (event.target.closest?.("[data-side-toggle]")) {
    event.preventDefault();
    side.toggleAttribute("data-open");
    side.querySelector(".side-close").focus();
  } else if (link && link.hash === location.hash) visit(); // the same link again
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") side.removeAttribute("data-open");
  if (event.key === "Enter" && event.target.matches?.("#wizard input[type=search]")) event.preventDefault();
});

// A second click does nothing while the first one is on its way.
form.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  for (const [name, value] of Object.entries(stamp())) {
    const hidden = form.querySelector(`input[name=${name}]`) ?? form.appendChild(document.createElement("input"));
    Object.assign(hidden, { type: "hidden", name, value });
  }
  unsaved.clear(); // the form sends everything
  remember();
});
addEventListener("pageshow", () => delete form.dataset.sent);

// Typed text that no answer has confirmed yet: a swap of its page puts it back, so does a reload,
// and a page that goes away sends it along.
const KEY = wizard.dataset.save;
const RECENT = 60_000; // milliseconds; what is older was overtaken by other tabs
const unsaved = new Map();
function remember() {
  try {
    if (unsaved.size) sessionStorage.setItem(KEY, JSON.stringify({ at: Date.now(), values: [...unsaved] }));
    else sessionStorage.removeItem(KEY);
  } catch { /* storage is switched off: pagehide still sends it */ }
}
function putBack(from) {
  for (const [id, value] of unsaved) {
    const input = document.getElementById(id);
    const anew = input && from.contains(input); // until now htmx did not listen to it
    if (!input || (input.value === value && !anew)) continue;
    input.value = value;
    input.dispatchEvent(new Event(input === document.activeElement ? "input" : "change", { bubbles: true }));
  }
}
wizard.addEventListener("input", ({ target }) => {
  if (!target.id || !target.matches("[type=text], textarea")) return;
  unsaved.set(target.id, target.value);
  remember();
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  for (const [id, value] of unsaved) {
    const name = document.getElementById(id)?.name;
    if (event.detail.requestConfig.parameters[name] === value) unsaved.delete(id);
  }
  remember();
});
document.body.addEventListener("htmx:afterSettle", ({ detail }) => putBack(detail.elt));
addEventListener("load", () => { // by then htmx listens
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem(KEY)); } catch { /* storage is switched off */ }
  if (!kept || Date.now() - kept.at > RECENT) return;
  for (const [id, value] of kept.values) unsaved.set(id, value);
  putBack(wizard);
});
addEventListener("pagehide", () => {
  if (form.dataset.sent) return;
  const body = new FormData();
  for (const id of unsaved.keys()) {
    const group = document.getElementById(id)?.closest("[hx-post]");
    for (const input of group?.querySelectorAll(":is(input:not([type=checkbox]:not(:checked)), textarea, select)[name]") ?? []) body.set(input.name, input.value);
  }
  if (![...body.keys()].length) return;
  body.set("typing", "1");
  for (const [name, value] of Object.entries(stamp())) body.set(name, value);
  const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true" };
  fetch(wizard.dataset.save, { method: "POST", body, keepalive: true, headers });
});
// The page is usable before this script is there: who already works in a field keeps the cursor.
const idle = document.activeElement === document.body;
if (idle && location.hash) visit();
else if (idle) wizard.querySelector("[autofocus]")?.focus();
