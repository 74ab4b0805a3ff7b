// What a person entered in the wizard and the server may not have yet.
const wizard = document.getElementById("wizard");
const form = document.getElementById("wizard-form");

// Requests may overtake one another: each says which tab sent it, when, and what of the draft it
// shows. A page hands the tab's name on as it goes: what it sends last may come after the next began.
const HANDED_ON = "wizard-tab";
function takeOver() {
  try {
    const name = sessionStorage.getItem(HANDED_ON);
    sessionStorage.removeItem(HANDED_ON); // or a copy of this tab would bear it too
    return name;
  } catch { return null; } // storage is switched off
}
const TAB = takeOver() ?? Math.random().toString(36).slice(2);
addEventListener("pageshow", takeOver); // come back out of the browser's memory
addEventListener("pagehide", () => {
  try { sessionStorage.setItem(HANDED_ON, TAB); } catch { /* storage is switched off */ }
});
const version = () => Number(document.getElementById("wizard-saved").dataset.version);
let sent = 0;
export function stamp() {
  sent = Math.max(sent + 1, Date.now());
  return { tab: TAB, sent: String(sent), version: String(version()) };
}

// Other pages of this draft hear of each change. Who shows an older one shows the new one, or says
// so where somebody is at work in it; nothing can be entered there any more.
const others = new BroadcastChannel(`draft ${wizard.dataset.draft}`);
let announced = version();
function overtaken() {
  if (!document.hasFocus() && !unsaved.size) return location.reload();
  document.getElementById("wizard-overtaken").hidden = false;
  wizard.inert = true;
}
others.addEventListener("message", ({ data }) => data > version() && overtaken());
document.body.addEventListener("draft-overtaken", overtaken);
document.body.addEventListener("htmx:afterSettle", () => {
  if (version() > announced) others.postMessage(version());
  announced = version();
});
document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "post") Object.assign(detail.parameters, stamp());
});

// What no answer has confirmed yet: a swap of its page puts it back, so does a reload, and a page
// that goes away sends it along. Beside typed text these are the choices in an item, which would
// else be sent as they were with the text typed after them, and one of several: the request of a
// click waits behind others, and htmx drops it when their answer has replaced what was clicked.
const KEY = wizard.dataset.save;
const LATEST = `draft ${wizard.dataset.draft}`; // the version that this tab has seen
const RECENT = 60_000; // milliseconds; what is older was overtaken by other tabs
const unsaved = new Map();
const KEPT = "[type=text][id], textarea[id], .item select[id], .item [type=checkbox][id], [type=radio]";
const RADIO = "one of "; // by their name, for the others of it are no longer chosen
const key = (input) => (input.type === "radio" ? RADIO + input.name : input.id);
function find(key, was) {
  if (!key.startsWith(RADIO)) return document.getElementById(key);
  const all = wizard.querySelectorAll("[type=radio]:enabled");
  return [...all].find((it) => RADIO + it.name === key && it.value === was);
}
function value(input) {
  if (input.type === "radio") return input.checked ? input.value : null;
  return input.type === "checkbox" ? input.checked : input.value;
}
function fill(input, was) {
  input.closest(".reveal")?.setAttribute("open", "");
  if (input.type === "radio") input.checked = true;
  else if (input.type === "checkbox") input.checked = was;
  else input.value = was;
}
function remember() {
  try {
    if (unsaved.size) sessionStorage.setItem(KEY, JSON.stringify({ at: Date.now(), values: [...unsaved] }));
    else sessionStorage.removeItem(KEY);
    sessionStorage.setItem(LATEST, version());
  } catch { /* storage is switched off: pagehide still sends it */ }
}
export function forget() {
  unsaved.clear();
  remember();
}
function putBack(from) {
  for (const [id, was] of unsaved) {
    const input = find(id, was);
    const anew = input && from.contains(input); // until now htmx did not listen to it
    if (!input && id.startsWith(RADIO)) unsaved.delete(id); // it can no longer be chosen
    if (!input || (value(input) === was && !anew)) continue;
    fill(input, was);
    const typed = input === document.activeElement && input.matches("[type=text], textarea");
    input.dispatchEvent(new Event(typed ? "input" : "change", { bubbles: true }));
  }
}
wizard.addEventListener("input", ({ target }) => {
  if (!target.matches(KEPT)) return;
  unsaved.set(key(target), value(target));
  remember();
});
function confirm({ parameters }) {
  const has = (input) => parameters[input?.name] !== undefined;
  for (const [id, was] of unsaved) {
    const input = find(id, was);
    const box = input?.type === "checkbox" && has(input.closest(".item").querySelector("[type=hidden]"));
    if (box ? has(input) === was : parameters[input?.name] === was) unsaved.delete(id);
  }
  remember();
}
// Before the answer is shown, or what it has put in another place would be put back.
document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status < 300) confirm(detail.requestConfig);
});
document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful) confirm(detail.requestConfig);
});
// Seen at once, for who goes on within the moment until htmx listens sends the form as it stands.
document.body.addEventListener("htmx:afterSwap", () => {
  for (const [id, was] of unsaved) {
    const input = find(id, was);
    if (input) fill(input, was);
  }
});
document.body.addEventListener("htmx:afterSettle", ({ detail }) => putBack(detail.elt));
addEventListener("load", () => { // by then htmx listens
  let [kept, latest] = [null, 0];
  try {
    kept = JSON.parse(sessionStorage.getItem(KEY));
    latest = Number(sessionStorage.getItem(LATEST));
    sessionStorage.setItem(LATEST, version());
  } catch { /* storage is switched off */ }
  if (latest > version()) return location.reload(); // it was asked for before the last answer came
  if (!kept || Date.now() - kept.at > RECENT) return;
  for (const [id, value] of kept.values) unsaved.set(id, value);
  putBack(wizard);
});
const SENT = ":is(input:not(:is([type=checkbox], [type=radio]):not(:checked)), textarea, select)[name]";
addEventListener("pagehide", () => {
  if (form.dataset.sent) return;
  const body = new FormData();
  for (const [id, was] of unsaved) {
    const group = find(id, was)?.closest("[hx-post]");
    for (const input of group?.querySelectorAll(SENT) ?? []) body.set(input.name, input.value);
  }
  if (![...body.keys()].length) return;
  body.set("typing", "1");
  for (const [name, value] of Object.entries(stamp())) body.set(name, value);
  const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true" };
  fetch(wizard.dataset.save, { method: "POST", body, keepalive: true, headers });
});
