// Shortcuts of a single key, and the sheet that lists all of them. People who dictate or use a switch
// can turn them off, because spoken letters would press them.
const KEPT = "single-keys";
const NEXT_MS = 1000; // the second key of two follows within
const PAGES = { h: "/", w: "/workloads/", t: "/templates/", p: "/projects/", c: "/clusters/" };
const TYPING = "input, textarea, select, [contenteditable], .xterm, .show";
const DRAWER = "#drawer-dialog"; // the only dialog whose content has shortcuts
const sheet = document.getElementById("keys");
const choice = sheet.querySelector("[data-single-keys]");
export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
let wentAt = -Infinity; // when g was pressed

// The key, where it is a shortcut: alone, and nobody types.
export function single(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !choice.checked) return "";
  const isAway = event.target.closest?.(TYPING) || document.querySelector(`dialog:modal:not(${DRAWER})`);
  return isAway ? "" : event.key;
}

function follow(address) {
  if (document.querySelector(`a[href="${address}"]`)) location.assign(address);
}

const actions = {
  "?": () => sheet.showModal(),
  "/": () => document.querySelector("#search, [role=search] input[type=search]")?.focus(),
  n: () => location.assign(document.querySelector("[data-palette-new]").content.querySelector("a").href),
  g: (event) => (wentAt = event.timeStamp),
};

document.addEventListener("keydown", (event) => {
  const key = single(event);
  if (!key || event.repeat || document.querySelector("dialog:modal, #wizard-form")) return;
  const isSecond = event.timeStamp - wentAt < NEXT_MS && key in PAGES;
  wentAt = -Infinity;
  if (isSecond) follow(PAGES[key]);
  else if (key in actions) actions[key](event);
  else return;
  event.preventDefault();
});
try { choice.checked = localStorage.getItem(KEPT) !== "off"; } catch { choice.checked = true; /* storage is switched off */ }
choice.addEventListener("change", () => {
  try { localStorage.setItem(KEPT, choice.checked ? "on" : "off"); } catch { /* it lasts as long as the page */ }
});
for (const key of document.querySelectorAll("[data-mod]")) key.textContent = isMac ? "⌘" : "Ctrl";
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-keys]")) sheet.showModal();
});
