// The wizard's manners. Every field saves itself by htmx; without this script the pages still post.
import { forget, stamp } from "./kept.js";

const wizard = document.getElementById("wizard");
const form = document.getElementById("wizard-form");
const side = document.getElementById("wizard-side");
const status = document.getElementById("status");

// Typing is kept too, but only leaving a field makes it say what is wrong; an item is left when
// all that it needs is there.
const CLICKED = "input[type=radio], input[type=checkbox], select";
const lacks = (input) => !input.value && input.offsetParent; // one that is hidden is not asked for
const nameless = (names) => names.offsetParent && ![...names.querySelectorAll("input")].some((it) => it.value);
const each = (item, selector) => [...item?.querySelectorAll(selector) ?? []];
const unfinished = (item) => each(item, "[aria-required]").some(lacks) || each(item, ".names").some(nameless);
document.body.addEventListener("htmx:configRequest", (event) => {
  const by = event.detail.triggeringEvent;
  if (by?.type === "change" && unfinished(by.target.closest(".item"))) event.detail.parameters.typing = "1";
  if (by?.type !== "input" || by.target.type === "search") return;
  if (by.target.matches(CLICKED) || by.target !== document.activeElement) event.preventDefault();
  else if (!event.detail.elt.hasAttribute("data-live")) event.detail.parameters.typing = "1";
});

// The notes below a field came anew: the field says whether it is wrong.
function markInvalid() {
  for (const notes of wizard.querySelectorAll(".notes[data-for]")) {
    const input = document.getElementById(notes.dataset.for);
    if (!input?.matches("input, textarea, select, [role=radiogroup]")) continue;
    if ("invalid" in notes.dataset) {
      input.setAttribute("aria-invalid", "true");
      notes.closest(".reveal")?.setAttribute("open", "");
    } else input.removeAttribute("aria-invalid");
  }
}

// An answer holds only the notes that say something.
function emptyOthers(answer) {
  if (!answer.includes('id="wizard-saved"')) return; // it is not about the draft as a whole
  for (const part of wizard.querySelectorAll(".notes[data-for], [data-inherited]")) {
    if (answer.includes(`id="${part.id}"`)) continue;
    part.replaceChildren();
    delete part.dataset.invalid;
  }
}

// It holds only the outputs that are open, too; one that opens asks for its text as it is now.
document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.path !== wizard.dataset.save) return;
  detail.parameters.shows = [...wizard.querySelectorAll("[data-shows][open]")].map((it) => it.dataset.shows);
});
wizard.addEventListener("toggle", ({ target }) => {
  if (!target.open || !target.dataset.shows) return;
  htmx.ajax("GET", wizard.dataset.save, { source: target, swap: "none" });
}, true);

document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  emptyOthers(event.detail.xhr.responseText);
  markInvalid();
  if (event.detail.requestConfig.verb === "post") document.getElementById("wizard-refused")?.remove();
  const left = event.detail.requestConfig.triggeringEvent?.type === "change" && event.detail.elt;
  const wrong = left && left.querySelector?.(".errorlist li");
  if (wrong) status.textContent = wrong.textContent;
});

// What was created in the drawer is chosen where its button stands; a project may be of another cluster.
// The cursor goes there once it is on the page: behind a field that is being saved the request queues,
// and htmx calls a queued request done.
let created = "";
function addTo(list, id) {
  const name = list.dataset.list;
  const number = list.querySelectorAll(".item").length;
  htmx.ajax("POST", wizard.dataset.save, {
    source: list, target: list, swap: "outerHTML", values: { action: `add:${name}=${id}` },
  });
  created = `${name}-${number}-id`;
}
document.body.addEventListener("asset-created", (event) => {
  const { kind, id, slot, cluster } = event.detail;
  const name = slot ? `${slot}-${kind}` : kind;
  const maker = wizard.querySelector(`[data-makes="${kind}"]`);
  if (maker) addTo(document.getElementById(`${maker.dataset.forList}-rows`), id);
  if (!document.getElementById(`${name}-gallery`)) return;
  const whole = kind === "project";
  htmx.ajax("POST", wizard.dataset.save, {
    source: `#${name}-gallery`, target: whole ? "#wizard-page" : `#${name}-gallery`, swap: "outerHTML",
    values: whole ? { project: id, cluster } : { [name]: id, gallery: name },
  });
  created = `${name}-${id}`;
});
document.body.addEventListener("htmx:afterSettle", () => {
  const input = created && document.getElementById(created);
  if (!input) return;
  created = "";
  input.focus();
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
  const reset = event.target.closest?.("[data-reset]");
  if (reset) {
    event.preventDefault();
    const input = document.getElementById(reset.dataset.reset);
    input.value = "";
    input.focus();
    for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  if (link && link.hash === location.hash) visit(); // the same link again
});
document.addEventListener("keydown", (event) => {
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
  forget(); // the form sends everything
});
addEventListener("pageshow", () => delete form.dataset.sent);
// What was being saved when the form left is in it; an answer that comes late leads nowhere any more.
for (const name of ["htmx:configRequest", "htmx:beforeOnLoad"]) {
  document.body.addEventListener(name, (event) => form.dataset.sent && event.preventDefault());
}

// The page is usable before this script is there: who already works in a field keeps the cursor.
const idle = document.activeElement === document.body;
if (idle && location.hash) visit();
else if (idle) wizard.querySelector("[autofocus]")?.focus();
