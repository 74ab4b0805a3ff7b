// The overview. Its panels are fetched again, in one request, when any workload has changed.
import "./live-mark.js";
import { subscribe } from "./live.js";

const GAP_MS = 2000; // between two requests, however many workloads change
const CHANGE = /^(w|new)-/;
const unfolded = new Set(); // groups that stay open when the panels are replaced
let last = performance.now();
let timer = null;

function refresh() {
  timer = null;
  last = performance.now();
  document.getElementById("home-panels")?.dispatchEvent(new CustomEvent("live"));
}

subscribe((names) => {
  if (names && ![...names].some((name) => CHANGE.test(name))) return;
  timer ??= setTimeout(refresh, Math.max(0, last + GAP_MS - performance.now()));
});

document.addEventListener("toggle", ({ target }) => {
  if (!target.matches("#home-panels details[id]")) return;
  target.open ? unfolded.add(target.id) : unfolded.delete(target.id);
}, true);
document.body.addEventListener("htmx:afterSwap", () => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
});

document.querySelector("[data-submits]")?.addEventListener("change", ({ target }) => target.form.submit());
