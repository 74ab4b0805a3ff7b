// Loaded before the first paint, so that a dark page never flashes light, and no table jumps: see
// theme.js and density.js.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("trainyard-theme");
    if (localStorage.getItem("trainyard-rows")) document.documentElement.dataset.rows = "compact";
  } catch { /* storage is switched off */ }
  const dark = choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.bsTheme = dark ? "dark" : "light";
})();
