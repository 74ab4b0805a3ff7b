// Compact rows, one line each: a choice of this browser, shown before the first paint by
// theme-early.js.
const KEY = "trainyard-rows";
const root = document.documentElement;

function mark() {
  for (const button of document.querySelectorAll("[data-density]")) {
    button.setAttribute("aria-pressed", String(root.dataset.rows === "compact"));
  }
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-density]")) return;
  const compact = root.dataset.rows !== "compact";
  if (compact) root.dataset.rows = "compact";
  else delete root.dataset.rows;
  try {
    if (compact) localStorage.setItem(KEY, "compact");
    else localStorage.removeItem(KEY);
  } catch { /* storage is switched off: the choice lasts for this page */ }
  mark();
});
document.body.addEventListener("htmx:afterSwap", mark); // the bar was drawn anew
mark();
