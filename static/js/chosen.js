// A list that scrolls opens at what is chosen in it, so that this need not lie on top of the others.
function show(part) {
  for (const card of part.querySelectorAll(".look-lines .pick:has(:checked)")) {
    const list = card.parentElement;
    list.scrollTop += Math.max(0, card.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom + 3);
  }
}
document.body.addEventListener("htmx:load", ({ detail }) => show(detail.elt));
show(document);
