// Short messages in the corner. They come with the page, or as `HX-Trigger: {"toasts": {"shown": [...]}}`,
// which core.web.middleware adds to htmx responses out of Django's messages.
const holder = document.getElementById("toasts");
const SECONDS = 6;

function dismissLater(card) {
  if (card.classList.contains("toast-danger")) return; // errors wait to be read
  setTimeout(() => card.remove(), SECONDS * 1000);
}

export function toast(text, tone = "info") {
  const shown = [...holder.querySelectorAll("[data-toast-text]")].map((element) => element.textContent);
  if (tone === "danger" && shown.includes(text)) return; // said already, and still to be read
  const card = document.getElementById("toast-template").content.firstElementChild.cloneNode(true);
  card.classList.add(`toast-${tone}`);
  card.querySelector("[data-toast-text]").textContent = text;
  holder.append(card);
  holder.showPopover?.(); // the top layer: above an open drawer
  dismissLater(card);
}

holder.addEventListener("click", (event) => {
  if (event.target.closest("[data-toast-close]")) event.target.closest(".toast-card").remove();
});
document.body.addEventListener("toasts", (event) => {
  holder.hidePopover?.();
  for (const { text, tone } of event.detail.shown ?? []) toast(text, tone);
});
document.body.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (status === 409 && document.getElementById("wizard")) return; // its page says more
  const words = { 403: "You do not have permission, or you signed in again in another tab. In that case, reload this page.", 404: "This no longer exists.", 409: "Someone else changed this in the meantime.", 503: "The database is busy or out of reach. Try again in a few seconds.",
    507: "The disk is full. The notice at the top of the page says what to do." };
  toast(words[status] || `The server could not do that (error ${status}).`, "danger");
});
document.body.addEventListener("htmx:sendError", () => {
  toast("The server does not answer. Check that it is running, then try again.", "danger");
});
for (const card of holder.children) dismissLater(card);
if (holder.childElementCount) holder.showPopover?.();
