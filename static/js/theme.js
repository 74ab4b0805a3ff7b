// The switch in the user menu: light, dark, or what the system says.
const KEY = "trainyard-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const buttons = document.querySelectorAll("[data-theme-choice]");

function stored() {
  try { return localStorage.getItem(KEY) || "auto"; } catch { return "auto"; }
}

function show() {
  const choice = stored();
  const dark = choice === "auto" ? system.matches : choice === "dark";
  document.documentElement.dataset.bsTheme = dark ? "dark" : "light";
  for (const button of buttons) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
}

for (const button of buttons) {
  button.addEventListener("click", (event) => {
    event.stopPropagation(); // keeps the menu open
    const choice = button.dataset.themeChoice;
    try {
      if (choice === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch { /* storage is switched off: the choice lasts for this page */ }
    show();
    document.dispatchEvent(new CustomEvent("theme-changed"));
  });
}
system.addEventListener("change", show);
show();
