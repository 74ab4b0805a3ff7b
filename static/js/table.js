// The workloads table: rows that change by themselves. The selection is in select.js.
import { subscribe } from "./live.js";
import { countPicked } from "./select.js";

const OUTPUT_MS = 5000; // the last metrics of a row may be this old
const output = new Set();
const added = new Set();
let fetching = null;
let again = null;

const table = () => document.getElementById("workloads");
const body = () => document.querySelector("[data-rows-body]");
const row = (id) => document.getElementById(`w-${id}`);
const shown = () => [...(body()?.rows ?? [])].map((line) => line.id.slice(2));

subscribe((names) => {
  if (!table()) return;
  if (names === null) {
    const active = shown().filter((id) => !("settled" in row(id).dataset));
    return refresh(active, added);
  }
  const ids = [];
  for (const name of names) {
    const [kind, id] = [name.slice(0, name.indexOf("-")), name.slice(name.indexOf("-") + 1)];
    if (kind === "new") added.add(id);
    else if (kind === "w" && row(id)) ids.push(id);
    else if (kind === "o" && row(id)) output.add(id);
  }
  refresh(ids, added);
});
setInterval(() => {
  if (document.hidden || !output.size) return;
  refresh([...output].filter(row), added);
  output.clear();
}, OUTPUT_MS);

async function refresh(ids, fresh) {
  if (!ids.length && !fresh.size) return;
  if (fetching) {
    again = new Set([...(again ?? []), ...ids]); // one request at a time
    return;
  }
  const { rowsUrl, query } = table().dataset;
  const asked = [...fresh].filter((id) => !row(id));
  fetching = fetch(`${rowsUrl}?${query}&ids=${ids.join(",")}&new=${asked.join(",")}`, { headers: { "HX-Request": "true" } });
  try {
    const answer = await fetching;
    if (answer.ok && table()) show(ids, await answer.text());
  } catch { /* the server is away; polling asks again */ } finally {
    fetching = null;
    const next = again;
    again = null;
    if (next) refresh([...next].filter(row), added);
  }
}

function show(ids, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const before = body()?.rows.length ?? 0;
  const [changed, fresh] = ["rows", "new"].map((part) => holder.content.querySelector(`[data-part=${part}]`));
  for (const id of ids) {
    const found = [...changed.rows].find((line) => line.id === `w-${id}`);
    if (found) replace(row(id), found);
    else remove(row(id));
  }
  if (fresh.rows.length) welcome([...fresh.rows]);
  recount((body()?.rows.length ?? 0) - before);
  document.body.dispatchEvent(new CustomEvent("times-changed"));
  countPicked();
}

// A new row takes over what a person did with the old one: selection, focus, an open menu.
function replace(old, fresh) {
  if (!old || old.querySelector(".dropdown-menu.show")) return;
  fresh.querySelector("input[name=id]").checked = old.querySelector("input[name=id]").checked;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  if (old.dataset.phase !== fresh.dataset.phase) fresh.classList.add("changed");
  old.replaceWith(fresh);
  htmx.process(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function remove(old) {
  const next = old?.contains(document.activeElement) ? (old.nextElementSibling ?? old.previousElementSibling) : null;
  old?.remove();
  next?.querySelector("a")?.focus({ preventScroll: true });
}

// What came or went is counted; where no row is left, the page says what that means.
function recount(more) {
  const shown = document.querySelector("#workloads .count");
  const number = Number(shown?.textContent.match(/^\d+(?= workload)/)?.[0]) + more;
  if (more && number >= 0) shown.textContent = `${number} workload${number === 1 ? "" : "s"}`;
  if (more && !body()?.rows.length) htmx.ajax("GET", location.href, { target: "#workloads", swap: "outerHTML" });
}

// New workloads go on top of the newest first page; elsewhere a pill says how many there are.
function welcome(lines) {
  if (table().dataset.showsNewest && body()) {
    for (const line of lines) {
      if (document.getElementById(line.id)) continue;
      body().prepend(line);
      htmx.process(line);
    }
    added.clear();
    return;
  }
  const pill = document.querySelector("[data-new-rows]");
  if (pill) {
    pill.textContent = `${lines.length} new – show`;
    pill.hidden = false;
  } else htmx.ajax("GET", location.href, { target: "#workloads", swap: "outerHTML" });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-new-rows]")) return;
  added.clear();
  htmx.ajax("GET", location.pathname, { target: "#workloads", swap: "outerHTML" });
});
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "workloads" && event.detail.elt?.id !== "workloads") return;
  const search = document.getElementById("search");
  if (search !== document.activeElement) search.value = table().dataset.search;
  added.clear();
  countPicked();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  document.getElementById("search")?.focus();
});
// A menu that just got its entries is larger than it was: its place is found again.
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.matches(".action-menu")) dispatchEvent(new Event("resize"));
});
