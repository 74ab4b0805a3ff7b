// The workload whose drawer is open beside the table has an address: ?sel=<id>&tab=<tab>, with all
// that the table has there. A reload opens it again, Back closes it, j and k lead to its neighbours.
import { single } from "./keys.js";
import { row } from "./rows.js";

const OWN = /^(sel|tab)=/;
const dialog = document.getElementById("drawer-dialog");
const drawer = document.getElementById("drawer");
const asked = (name) => new URLSearchParams(location.search).get(name) ?? "";
const rest = () => location.search.slice(1).split("&").filter((pair) => pair && !OWN.test(pair));
const head = () => drawer.querySelector("[data-sel]");
let opening = ""; // the id of the workload that was asked for, until it stands there
let waiting = 0; // steps asked for while a drawer opens: they follow it

// Of the table alone, or with a workload beside it.
function address(sel = "", tab = "") {
  const own = [sel && `sel=${sel}`, sel && tab !== "overview" && `tab=${tab}`].filter(Boolean);
  const query = [...rest(), ...own].join("&");
  return location.pathname + (query && `?${query}`);
}

function open(sel, tab) {
  opening = sel;
  const path = `${location.pathname}${sel}/${!tab || tab === "overview" ? "" : `${tab}/`}`;
  return htmx.ajax("GET", path, { target: "#drawer", swap: "innerHTML" });
}

// As many rows further as there are, at most.
function neighbour(by) {
  const line = row(head()?.dataset.sel);
  let next = null;
  for (let at = line; at && by; by -= Math.sign(by)) {
    at = by > 0 ? at.nextElementSibling : at.previousElementSibling;
    next = at ?? next;
  }
  return next;
}

async function step(by) {
  if (opening) waiting += by;
  const next = !opening && neighbour(by);
  if (!next) return;
  const used = document.activeElement?.dataset.step;
  const { tab } = drawer.querySelector("#workload-panel").dataset;
  const came = await open(next.id.slice(2), tab).then(() => true, () => false); // toasts.js says why
  if (!came) return;
  const again = drawer.querySelector(`[data-step="${used}"]:enabled`);
  (again ?? drawer.querySelector("h2"))?.focus();
}

function mark() {
  for (const line of document.querySelectorAll("tr.peeked")) line.classList.remove("peeked");
  row(head()?.dataset.sel)?.classList.add("peeked");
  for (const button of drawer.querySelectorAll("[data-step]")) {
    button.hidden = false;
    button.disabled = !neighbour(Number(button.dataset.step));
  }
}

// The drawer says what it shows: the address follows, with an entry of its own for the first.
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (!drawer.contains(event.target) || !head()) return; // its target may be what was replaced
  const here = address(head().dataset.sel, drawer.querySelector("#workload-panel").dataset.tab);
  if (!asked("sel")) history.pushState({ peek: true }, "", here);
  else if (here !== location.pathname + location.search) history.replaceState(history.state, "", here);
  mark();
  if (opening && opening !== head().dataset.sel) return; // one from before, or a part of it
  const by = waiting;
  [opening, waiting] = ["", 0];
  if (by) step(by);
});
dialog.addEventListener("close", () => {
  waiting = 0;
  for (const line of document.querySelectorAll("tr.peeked")) line.classList.remove("peeked");
  if (!asked("sel")) return;
  if (history.state?.peek) history.back();
  else history.replaceState(history.state, "", address());
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.target !== drawer || event.detail.successful) return;
  [opening, waiting] = ["", 0];
  if (!dialog.open && asked("sel")) history.replaceState(history.state, "", address());
});

// Before htmx, which would load the whole page: where only the drawer differs, only it changes.
let shown = rest().join("&");
document.body.addEventListener("htmx:pushedIntoHistory", () => (shown = rest().join("&")));
addEventListener("popstate", (event) => {
  if (rest().join("&") !== shown) {
    if (!event.state?.htmx) location.reload();
    return;
  }
  event.stopImmediatePropagation();
  follow();
}, true);

function follow() {
  const [sel, tab] = [asked("sel"), asked("tab")];
  if (!sel && dialog.open) dialog.close();
  else if (sel && sel !== head()?.dataset.sel) open(sel, tab);
}

dialog.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (button) step(Number(button.dataset.step));
});
// Without a drawer the keys walk from name to name; Enter is the link's own.
const rows = () => [...document.querySelectorAll("[data-rows-body] > tr")];
const focused = () => document.activeElement?.closest("[data-rows-body] > tr");

function walk(by) {
  const all = rows();
  const at = all.indexOf(focused());
  const next = at < 0 ? all[0] : all[Math.max(0, Math.min(at + by, all.length - 1))];
  next?.querySelector('a[id^="n-"]').focus();
}

document.addEventListener("keydown", (event) => {
  const key = single(event);
  const by = { j: 1, k: -1 }[key];
  const isOpen = dialog.open && head();
  const line = isOpen ? row(head().dataset.sel) : focused();
  if (by && isOpen) step(by);
  else if (by && rows().length) walk(by);
  else if (key === "l" && line) open(line.id.slice(2), "logs");
  else if (key === "x" && line) line.querySelector("input[name=id]")?.click();
  else if (key === "c") document.querySelector("[data-compare]:enabled")?.click();
  else return;
  event.preventDefault();
});
follow();
