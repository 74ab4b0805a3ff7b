// Loaded before the first paint, so that a dark page never flashes light. See theme.js.
(() => {
  let choice = null;
  try { choice = localStorage.getItem("trainyard-theme"); } catch { /* storage is switched off */ }
  const dark = choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.bsTheme = dark ? "dark" : "light";
})();
