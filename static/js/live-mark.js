// [data-live-mark] says whether the page follows by itself, or as of when it is.
//
// A cut that is over at once is not worth a word: the server ends each stream now and then.
import { tick } from "./times.js";

const PATIENCE_MS = 2500;
const status = document.getElementById("status");
let asOf = Date.now(); // the page was just made
let open = false;
let failing = false;
let behind = null; // since when it waits to be told, or that it was
let told = false;

const clock = () => tick(new Date(asOf), 0);

function paint() {
  const mark = document.querySelector("[data-live-mark]");
  if (!mark) return;
  mark.dataset.liveMark = told ? "behind" : "live";
  mark.textContent = told ? `Reconnecting, as of ${clock()}` : "Live";
  mark.hidden = !told && !open;
}

function change() {
  if (open && !failing) {
    clearTimeout(behind);
    behind = null;
    if (told) status.textContent = "Live again";
    told = false;
  } else behind ??= setTimeout(tell, PATIENCE_MS);
  paint();
}

function tell() {
  told = true;
  paint();
  status.textContent = `Live updates were interrupted. Reconnecting, as of ${clock()}`;
}

// What the page fetched came, or did not.
export function answered(well) {
  if (well) asOf = Date.now();
  failing = !well;
  change();
}

document.addEventListener("stream-state", ({ detail }) => {
  if (open && detail !== "open") asOf = Date.now(); // until now it was live
  open = detail === "open";
  change();
});
document.body.addEventListener("htmx:afterSettle", paint);
if (document.documentElement.dataset.stream) {
  open = document.documentElement.dataset.stream === "open";
  change();
}
