// Small manners of every page: local times, announcements, tables, menus, rows, copying, the narrow navigation.
import "./lines.js";
import "./press.js";
import { showTimes } from "./times.js";

function announce(root) {
  const said = root.querySelector?.("[data-announce]") ?? (root.dataset?.announce ? root : null);
  if (said) document.getElementById("status").textContent = said.dataset.announce;
}

document.body.addEventListener("htmx:afterSettle", (event) => {
  showTimes(document);
  announce(event.detail.elt);
});

// A table whose columns all fit needs no box of its own to scroll in: its head sticks to the page's. Others can be
// scrolled by keys, too.
const fitting = new ResizeObserver((entries) => {
  for (const wrap of new Set(entries.map(({ target }) => target.closest(".table-wrap")))) {
    if (!wrap) continue;
    const fits = wrap.firstElementChild.offsetWidth <= wrap.clientWidth;
    wrap.toggleAttribute("data-fits", fits);
    fits ? wrap.removeAttribute("tabindex") : wrap.setAttribute("tabindex", "0");
  }
});
function watchTables() {
  for (const part of document.querySelectorAll(".table-wrap, .table-wrap > table")) fitting.observe(part);
}
document.body.addEventListener("htmx:afterSettle", watchTables);
watchTables();

// A menu ends above the lower edge of the window, its buttons with it.
const LEAST = 160; // pixels
document.addEventListener("toggle", ({ target }) => {
  const body = target.matches("details.menu[open]") && target.querySelector(".menu-body");
  if (body) body.style.maxHeight = `${Math.max(innerHeight - body.getBoundingClientRect().top - 12, LEAST)}px`;
}, true);

document.body.addEventListener("times-changed", () => showTimes(document));
showTimes(document);
setInterval(() => document.hidden || showTimes(document), 30_000);

// Rows of a form, and names in a row: [data-rows] says how many there were, and holds a <template> with a mark
// where the number goes, [data-rows-list], and [data-rows-add].
function addRow(holder) {
  const html = holder.querySelector(":scope > template").innerHTML.replaceAll(holder.dataset.mark ?? "__prefix__", holder.dataset.rows);
  const list = holder.querySelector("[data-rows-list]");
  list.insertAdjacentHTML("beforeend", html);
  holder.dataset.rows = Number(holder.dataset.rows) + 1;
  list.lastElementChild.querySelector("input:not([type=hidden]), select, textarea")?.focus();
}

function removeRow(row) {
  const mark = row.querySelector("input[name$=-DELETE]");
  row.closest("[data-rows]").querySelector(":scope > [data-rows-add]").focus();
  row.hidden = true;
  if (mark) mark.checked = true;
  else row.remove(); // one of several names, which is gone with its input
}

// A row takes what the one above it holds, and that one what it held: the order is that of the inputs' names.
function moveUp(row) {
  let above = row.previousElementSibling;
  while (above?.hidden) above = above.previousElementSibling;
  if (!above) return;
  const [lower, upper] = [row, above].map((each) => each.querySelectorAll("select, input:not([type=checkbox])"));
  lower.forEach((input, at) => ([input.value, upper[at].value] = [upper[at].value, input.value]));
  above.querySelector("[data-rows-up]").focus();
}

// A button that opens what it adds, and is gone with that.
function reveal(holder) {
  holder.open = true;
  holder.querySelector("input, textarea, select").focus();
}

const narrow = matchMedia("(max-width: 900px)");
function openNavigation(open) {
  document.documentElement.dataset.nav = open ? "open" : "";
  document.querySelector("[data-nav-toggle]")?.setAttribute("aria-expanded", String(open));
  if (open) document.querySelector("#sidebar a").focus(); // it lies over the page, and comes before it
}

async function copy(element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(element.textContent);
  getSelection().selectAllChildren(element); // there is no clipboard without TLS
  document.execCommand("copy");
}

document.addEventListener("click", async (event) => {
  const find = (selector) => event.target.closest?.(selector);
  if (find("[data-rows-add]")) addRow(find("[data-rows]"));
  else if (find("[data-rows-up]")) moveUp(find("[data-row]"));
  else if (find("[data-rows-remove]")) removeRow(find("[data-row]"));
  else if (find(".reveal > summary")) {
    event.preventDefault(); // which would open it as well
    reveal(find(".reveal"));
  } else if (find("[data-copy]")) {
    const button = find("[data-copy]");
    await copy(document.getElementById(button.dataset.copy));
    document.getElementById("status").textContent = "Copied";
    button.dataset.done = "yes";
    button.querySelector("[data-copy-label]").textContent = "Copied";
  } else if (find("[data-nav-toggle]")) openNavigation(document.documentElement.dataset.nav !== "open");
  else if (narrow.matches && !find(".sidebar")) openNavigation(false);
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
    return;
  }
  if (event.key === "Escape" && document.documentElement.dataset.nav === "open") {
    openNavigation(false);
    document.querySelector("[data-nav-toggle]").focus();
  }
});
