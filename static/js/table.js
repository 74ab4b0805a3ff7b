// The workloads table: which rows are fetched again, and when. How they are shown is in rows.js,
// the selection in select.js, the workload whose drawer is open in peek.js.
import "./columns.js";
import "./density.js";
import { answered } from "./live-mark.js";
import { subscribe } from "./live.js";
import "./peek.js";
import { body, partly, row, show, table } from "./rows.js";
import { showPicked } from "./select.js";

const OUTPUT_MS = 5000; // the last metrics of a row may be this old
const MOST = 100; // rows that the server answers at once
const RETRY_MS = [1000, 30_000]; // after an answer that did not come: at first, at most
const output = new Set();
const changed = new Set(); // shown, and to be fetched again
const added = new Set(); // made since, and not shown: the filter may let them through later
let since = ""; // new ones are asked for from here on, where nobody named them
let fetching = false;
let retry = RETRY_MS[0];

subscribe((names) => {
  if (!table()) return;
  if (names === null) {
    since = table().dataset.asOf;
    for (const line of body()?.rows ?? []) if (!("settled" in line.dataset)) changed.add(line.id.slice(2));
  }
  for (const name of names ?? []) {
    const [kind, id] = [name.slice(0, name.indexOf("-")), name.slice(name.indexOf("-") + 1)];
    if (kind === "new") added.add(id);
    else if (kind === "w" && row(id)) changed.add(id);
    else if (kind === "o" && row(id)) output.add(id);
  }
  refresh();
});
setInterval(() => {
  if (document.hidden || !output.size) return;
  for (const id of output) changed.add(id);
  output.clear();
  refresh();
}, OUTPUT_MS);

// One request at a time; what an answer does not come to is asked for again.
async function refresh() {
  if (fetching || !table()) return;
  const ids = [...changed].filter(row).slice(0, MOST);
  const fresh = [...added].filter((id) => !row(id)).slice(-MOST);
  const from = since;
  if (!ids.length && !fresh.length && !from) return;
  for (const id of ids) changed.delete(id);
  [since, fetching] = ["", true];
  let wait = 0;
  try {
    await fetchRows(ids, fresh, from);
    retry = RETRY_MS[0];
  } catch {
    for (const id of ids) changed.add(id);
    since ||= from;
    wait = retry;
    retry = Math.min(2 * retry, RETRY_MS[1]);
  }
  answered(!wait);
  fetching = false;
  if (changed.size || since) setTimeout(refresh, wait);
}

async function fetchRows(ids, fresh, from) {
  const { rowsUrl, query } = table().dataset;
  const asked = new URLSearchParams({ ids: ids.join(","), new: fresh.join(","), since: from });
  const answer = await fetch(`${rowsUrl}?${query}&${asked}`, { headers: { "HX-Request": "true" } });
  if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
  const html = await answer.text();
  if (!table()) return;
  const { left, asOf } = show(ids, html);
  for (const id of left) added.add(id);
  for (const id of added) if (row(id)) added.delete(id);
  if (from) table().dataset.asOf = asOf;
}

// A row whose menu was open while it changed got new cells around it; now it is whole again.
document.addEventListener("hidden.bs.dropdown", (event) => {
  const id = event.target.closest("[data-rows-body] > tr")?.id.slice(2);
  if (!partly.delete(id)) return;
  changed.add(id);
  refresh();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-new-rows]")) return;
  const { first } = table().dataset;
  htmx.ajax("GET", `${location.pathname}?${first}`, { target: "#workloads", swap: "outerHTML" });
});
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "workloads" && event.detail.elt?.id !== "workloads") return;
  const search = document.getElementById("search");
  if (search !== document.activeElement) search.value = table().dataset.search;
  added.clear();
  showPicked();
});
// A menu that just got its entries is larger than it was: its place is found again.
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.matches(".action-menu")) dispatchEvent(new Event("resize"));
});
