// One dialog for every question, instead of the browser's own.
//
// htmx:  <a href="…/delete/" hx-post="…/delete/" hx-confirm="Delete it?" data-confirm-action="Delete">
// plain: <form data-confirm="Sign out everywhere?" data-confirm-action="Sign out">
const dialog = document.getElementById("confirm-dialog");
const title = dialog.querySelector("[data-confirm-title]");
const text = dialog.querySelector("[data-confirm-text]");
const yes = dialog.querySelector("[data-confirm-yes]");
let proceed = null;
let agreed = null; // an element whose question is answered

function ask(element, question, then) {
  title.textContent = element.dataset.confirmTitle || "Are you sure?";
  text.textContent = question;
  yes.textContent = element.dataset.confirmAction || "Continue";
  yes.classList.toggle("btn-danger", element.dataset.confirmTone !== "primary");
  yes.classList.toggle("btn-primary", element.dataset.confirmTone === "primary");
  proceed = then;
  dialog.returnValue = "";
  dialog.showModal();
}

dialog.addEventListener("close", () => {
  const then = proceed;
  proceed = null;
  if (dialog.returnValue === "yes") then?.();
});
document.body.addEventListener("htmx:confirm", (event) => {
  if (!event.detail.question) return;
  event.preventDefault();
  const { elt, question, issueRequest } = event.detail;
  if (elt === agreed) {
    agreed = null;
    issueRequest(true);
    return;
  }
  ask(elt, question, () => {
    if (elt.isConnected) return issueRequest(true);
    // The page updated itself meanwhile, and htmx asks nothing for an element that is gone.
    const address = elt.getAttribute("hx-post");
    agreed = [...document.querySelectorAll("[hx-post]")].find((each) => each.getAttribute("hx-post") === address) ?? null;
    if (agreed) agreed.click();
    else htmx.ajax("POST", address, { target: "body", swap: "none" }); // it was in a menu that closed
  });
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.confirm || form.dataset.confirmed) return;
  event.preventDefault();
  ask(form, form.dataset.confirm, () => {
    form.dataset.confirmed = "yes";
    form.requestSubmit(event.submitter);
  });
});
