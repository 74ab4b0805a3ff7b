// Selecting rows of the workloads table: one, a range with shift, all of the page; and its columns.
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

// The columns' menu: one place up or down, which counts when it is applied.
function move(button) {
  const choice = button.closest(".column-choice");
  const other = button.dataset.move < 0 ? choice.previousElementSibling : choice.nextElementSibling;
  if (!other?.matches(".column-choice")) return;
  if (button.dataset.move < 0) other.before(choice);
  else other.after(choice);
  const name = choice.querySelector(".form-check-label").textContent;
  const place = [...choice.parentElement.querySelectorAll(".column-choice")].indexOf(choice) + 1;
  document.getElementById("status").textContent = `${name} is column ${place}`;
  button.focus();
}

document.addEventListener("click", (event) => {
  const box = event.target;
  if (box.closest?.("[data-move]")) move(box.closest("[data-move]"));
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
