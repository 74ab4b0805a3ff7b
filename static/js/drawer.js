// The drawer: htmx swaps a fragment into #drawer, and the dialog around it opens.
//
// A fragment opens it by being swapped in; the response header `HX-Trigger: drawer-close` shuts it.
// Esc, the backdrop and [data-drawer-close] shut it too; focus returns to what opened it.
// On a wide screen a workload stands beside the table that it is from, which stays in use.
const WIDE = matchMedia("(min-width: 1400px)");
const dialog = document.getElementById("drawer-dialog");
const drawer = document.getElementById("drawer");

// Whatever hx-swap an opener inherits: the drawer stays, its content changes.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target === drawer) event.detail.swapOverride = "innerHTML";
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== drawer || !drawer.hasChildNodes()) return;
  if (!dialog.open) {
    const docked = dialog.classList.toggle("docked", WIDE.matches && !!drawer.querySelector("[data-sel]"));
    document.body.classList.toggle("beside-drawer", docked); // no :has(), which slows every change of a large table
    if (docked) dialog.show();
    else dialog.showModal();
    drawer.querySelector("[autofocus], h1, h2")?.focus();
  } else {
    drawer.querySelector("[aria-invalid=true]")?.focus();
  }
});
document.body.addEventListener("drawer-close", () => dialog.close());
dialog.addEventListener("close", () => {
  document.body.classList.remove("beside-drawer");
  drawer.replaceChildren();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog && dialog.matches(":modal")) dialog.close();
  const closer = event.target.closest("[data-drawer-close]");
  if (closer) {
    event.preventDefault(); // without this script it is a link back
    dialog.close();
  }
});
// A dialog that is not modal leaves the key to us.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !dialog.matches(".docked[open]")) return;
  if (!event.target.closest?.("input, textarea, select, .show, dialog:modal, .xterm")) dialog.close();
});
