// Selecting rows of the workloads table: one, a range with shift, all of the page.
let lastPicked = null;

const picked = () => [...document.querySelectorAll("[data-rows-body] input[name=id]")];

export function countPicked() {
  const count = picked().filter((box) => box.checked).length;
  const bar = document.querySelector("[data-bulk-bar]");
  if (!bar) return;
  bar.classList.toggle("shown", count > 0);
  bar.querySelector("[data-selected]").textContent = count;
  const all = document.querySelector("[data-select-all]");
  all.checked = count > 0 && count === picked().length;
  all.indeterminate = count > 0 && !all.checked;
}

document.addEventListener("click", (event) => {
  const box = event.target;
  if (box.closest?.("[data-select-none]")) for (const one of picked()) one.checked = false;
  else if (box.matches?.("[data-select-all]")) for (const one of picked()) one.checked = box.checked;
  else if (box.matches?.("[data-rows-body] input[name=id]")) {
    const boxes = picked();
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
document.body.addEventListener("htmx:confirm", (event) => {
  const button = event.detail.triggeringEvent?.submitter;
  // Not form.id: the rows' own fields of that name hide it.
  if (button?.dataset.bulkConfirm && event.detail.elt.matches("#bulk")) {
    const word = button.textContent.trim();
    event.detail.question = button.dataset.bulkConfirm;
    event.detail.elt.dataset.confirmAction = word;
    event.detail.elt.dataset.confirmTitle = `${word} ${document.querySelector("[data-selected]").textContent} selected?`;
  }
}, true);
countPicked();
