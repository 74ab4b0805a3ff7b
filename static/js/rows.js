// Rows of the workloads table that take the place of what is shown.
import { countPicked, forget, recountAll } from "./select.js";

const SAY_MS = 1500; // what ends together is read out together
const MOST_NAMED = 3;
const ENDS = ["Completed", "Failed"];
const status = document.getElementById("status");
let ended = [];
export const partly = new Set(); // rows whose menu was open when they changed
let saying = null;

export const table = () => document.getElementById("workloads");
export const body = () => document.querySelector("[data-rows-body]");
export const row = (id) => document.getElementById(`w-${id}`);
const pill = () => document.querySelector("[data-new-rows]");
export const reload = () => htmx.ajax("GET", location.href, { target: "#workloads", swap: "outerHTML" });

// Shows what the server answered of these rows; returns the new ones that found no place here.
export function show(ids, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const before = body()?.rows.length ?? 0;
  const [changed, fresh] = ["rows", "new"].map((part) => holder.content.querySelector(`[data-part=${part}]`));
  for (const id of ids) {
    const line = [...changed.rows].find((each) => each.id === `w-${id}`);
    if (line) replace(row(id), line);
    else remove(row(id));
  }
  const left = welcome([...fresh.rows].filter((line) => !document.getElementById(line.id)));
  recount((body()?.rows.length ?? 0) - before);
  document.body.dispatchEvent(new CustomEvent("times-changed"));
  countPicked();
  return { left, asOf: holder.content.querySelector("[data-as-of]").dataset.asOf };
}

// A new row takes over what a person did with the old one: selection, focus, an open menu.
function replace(old, fresh) {
  if (!old) return;
  const moved = old.dataset.phase !== fresh.dataset.phase;
  if (moved && "mine" in fresh.dataset) tell(fresh);
  fresh.classList.toggle("peeked", old.classList.contains("peeked"));
  if (old.querySelector(".dropdown-menu.show")) return replaceAround(old, fresh, moved);
  const [box, was] = [fresh, old].map((row) => row.querySelector("input[name=id]"));
  if (box) box.checked = was.checked;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  if (moved) fresh.classList.add("changed");
  old.replaceWith(fresh);
  htmx.process(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

// All but the box and the open menu, whose entries are fetched again: they may do no longer.
// The row is whole again when the menu closes, see table.js.
function replaceAround(old, fresh, moved) {
  partly.add(old.id.slice(2));
  const cells = [...old.cells].slice(1, -1);
  cells.forEach((cell, at) => cell.replaceWith(fresh.cells[1]));
  for (const name of ["phase", "settled", "mine"]) {
    if (name in fresh.dataset) old.dataset[name] = fresh.dataset[name];
    else delete old.dataset[name];
  }
  htmx.process(old);
  if (!moved) return;
  old.classList.add("changed");
  const menu = old.querySelector(".dropdown-menu");
  const focused = menu.contains(document.activeElement);
  htmx.ajax("GET", menu.parentElement.getAttribute("hx-get"), { target: menu, swap: "innerHTML" })
    .then(() => focused && menu.querySelector("a")?.focus());
}

function remove(old) {
  if (old) forget(old.id.slice(2));
  const next = old?.contains(document.activeElement) ? (old.nextElementSibling ?? old.previousElementSibling) : null;
  old?.remove();
  next?.querySelector("a")?.focus({ preventScroll: true });
}

// What came or went is counted; where no row is left, the page says what that means.
function recount(more) {
  const shown = document.querySelector("#workloads .count");
  const number = Number(shown?.textContent.match(/^\d+(?= workload)/)?.[0]) + more;
  if (more && number >= 0) {
    shown.textContent = `${number} workload${number === 1 ? "" : "s"}`;
    const foot = document.querySelector(".pages .nums");
    if (foot) foot.textContent = `${body().rows.length} of ${number}`;
    recountAll(number);
  }
  if (more && !body()?.rows.length) reload();
}

// New workloads go on top of the newest first page; elsewhere a pill says how many there are.
function welcome(lines) {
  if (!body()) {
    if (lines.length) reload();
    return [];
  }
  if (!table().dataset.showsNewest) {
    pill().textContent = `${lines.length} new – show`;
    pill().hidden = !lines.length;
    return lines.map((line) => line.id.slice(2));
  }
  for (const line of lines) {
    body().prepend(line);
    htmx.process(line);
  }
  return [];
}

function tell(line) {
  if (!ENDS.includes(line.dataset.phase)) return;
  ended.push({ name: line.querySelector(".strong").textContent.trim(), phase: line.dataset.phase });
  saying ??= setTimeout(say, SAY_MS);
}

function say() {
  const number = (phase) => ended.filter((each) => each.phase === phase).length;
  const counts = ENDS.filter(number).map((phase) => `${number(phase)} ${phase.toLowerCase()}`).join(", ");
  const names = ended.map(({ name, phase }) => `${name} ${phase.toLowerCase()}`).join(", ");
  status.textContent = ended.length > MOST_NAMED ? `Your workloads: ${counts}` : names;
  [ended, saying] = [[], null];
}
