// The order of the columns of the workloads table.
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-move]");
  if (button) move(button);
});

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
