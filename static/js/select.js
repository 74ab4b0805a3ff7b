// Selecting rows of the workloads table: one, a range with shift, all of the page, all that match. The selection stays
// while one pages, until search or filters change.
const COMPARABLE = [2, 3, 4, 5, 6, 7, 8]; // numbers of rows
const chosen = new Set(); // ids, on this page and on others
let whole = false; // all that match are selected, whichever these are by then
let matching = null; // the search and the filters that the selection is of
let lastPicked = null;
let agreed = -1; // as many match, as the question will say

const picked = () => [...document.querySelectorAll("[data-rows-body] input[name=id]")];
const part = (name) => document.querySelector(`[data-bulk-bar] [${name}]`);

// Takes over what the boxes say, and shows what it comes to.
export function countPicked() {
  const boxes = picked();
  const bar = document.querySelector("[data-bulk-bar]");
  if (!bar) return;
  if (whole) for (const box of boxes) box.checked = true;
  else for (const box of boxes) box.checked ? chosen.add(box.value) : chosen.delete(box.value);
  for (const box of boxes) box.closest("tr").classList.toggle("picked", box.checked);
  const here = boxes.filter((box) => box.checked).length;
  const all = document.querySelector("[data-select-all]");
  all.checked = here > 0 && here === boxes.length;
  all.indeterminate = here > 0 && !all.checked;
  bar.classList.toggle("shown", whole || chosen.size > 0);
  const away = chosen.size - here;
  part("data-selected").textContent = whole ? `All ${bar.dataset.total}` : chosen.size;
  part("data-elsewhere").textContent = !whole && away ? ` (${away} on other pages)` : "";
  const comparing = part("data-compare");
  comparing.disabled = whole || !COMPARABLE.includes(chosen.size);
  const more = part("data-more");
  if (more) more.hidden = whole || !all.checked;
  const onPage = new Set(boxes.map((box) => box.value));
  bar.querySelector("input[name=others]").value = [...chosen].filter((id) => !onPage.has(id)).join(",");
  bar.querySelector("input[name=all]").value = whole ? "1" : "";
}

// A page of the table came: what was selected on it before still is.
export function showPicked() {
  const now = document.getElementById("workloads")?.dataset.matching ?? null;
  if (now !== matching) clear();
  matching = now;
  for (const box of picked()) if (chosen.has(box.value)) box.checked = true;
  countPicked();
}

// As many match as the page knows of.
export function recountAll(number) {
  const bar = document.querySelector("[data-bulk-bar]");
  if (!bar) return;
  bar.dataset.total = number;
  const offer = part("data-select-matching");
  if (offer) offer.textContent = offer.textContent.replace(/\d+/, number);
}

export function forget(id) {
  chosen.delete(id);
}

// What a selection of all that match comes to once a row is left out: the others on this page.
function narrow() {
  whole = false;
  chosen.clear();
}

function clear() {
  narrow();
  for (const one of picked()) one.checked = false;
}

document.addEventListener("click", (event) => {
  const box = event.target;
  if (box.closest?.("[data-select-none]")) clear();
  else if (box.closest?.("[data-select-matching]")) {
    whole = true;
    document.getElementById("status").textContent = `All ${box.closest("[data-bulk-bar]").dataset.total} are selected`;
    part("data-select-none").focus();
  } else if (box.matches?.("[data-select-all]")) {
    if (whole) clear();
    else for (const one of picked()) one.checked = box.checked;
  } else if (box.matches?.("[data-rows-body] input[name=id]")) {
    const boxes = picked();
    if (whole) narrow();
    if (event.shiftKey && boxes.includes(lastPicked)) {
      const [from, to] = [boxes.indexOf(lastPicked), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
    }
    lastPicked = box;
  } else {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(box)) menu.open = false;
    return;
  }
  countPicked();
});

// The question says how many there are. How many match is asked for at that moment.
document.body.addEventListener("htmx:confirm", (event) => {
  const button = event.detail.triggeringEvent?.submitter;
  // Not form.id: the rows' own fields of that name hide it.
  const form = event.detail.elt;
  if (!button?.name || !form.matches("#bulk")) return;
  const { most } = form.querySelector("[data-bulk-bar]").dataset;
  const isTooMuch = !whole && chosen.size > most;
  if (isTooMuch) toast(`Select at most ${most} workloads, or all that match.`);
  if (whole && agreed < 0) count(form, button);
  if (isTooMuch || (whole && agreed < 0)) {
    event.preventDefault();
    return;
  }
  const number = whole ? agreed : chosen.size;
  const question = button.dataset.bulkConfirm ?? (whole && button.dataset.bulkConfirmAll);
  form.querySelector("input[name=agreed]").value = number;
  agreed = -1;
  if (!question) return;
  const word = button.textContent.trim();
  event.detail.question = question;
  form.dataset.confirmAction = word;
  form.dataset.confirmTitle = `${word} ${number.toLocaleString("en")} workload${number === 1 ? "" : "s"}?`;
}, true);

async function count(form, button) {
  const { url } = form.querySelector("[data-bulk-bar]").dataset;
  let found;
  try {
    const answer = await fetch(`${url}?${matching}`);
    if (answer.redirected) return location.reload(); // to sign in again
    found = await answer.json();
  } catch {
    return toast("The server does not answer, so nothing was done. Try again.");
  }
  if (found.refusal) return toast(found.refusal);
  agreed = found.count;
  if (form.isConnected && whole) form.requestSubmit(button);
}

function toast(text) {
  document.body.dispatchEvent(new CustomEvent("toasts", { detail: { shown: [{ text, tone: "danger" }] } }));
}

// What was done to all that match, or deleted, is no selection any more.
document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.elt.matches("#bulk") || !detail.successful) return;
  if (detail.xhr.responseText.includes("data-refused")) return;
  if (whole || detail.requestConfig.parameters.verb === "delete") clear();
  countPicked();
});
showPicked();
