// Ctrl K, on a Mac ⌘ K: the way to anything by a part of its name. Pages are those of the navigation
// and of the account menu; workloads and projects come from the server.
import { isMac } from "./keys.js";

const WAIT_MS = 150; // after the last letter
const PAGES = ".nav-item-link, .topbar .dropdown-item[href]";
const dialog = document.getElementById("palette");
const input = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const options = () => [...list.querySelectorAll("[role=option]")];
let asked = 0; // the answer to an earlier question is late
let timer = null;

function option(name, kind, address) {
  const link = Object.assign(document.createElement("a"), { href: address, tabIndex: -1 });
  link.setAttribute("role", "option");
  const [label, what] = [document.createElement("span"), document.createElement("span")];
  [label.textContent, what.textContent, what.className] = [name, kind, "soft"];
  link.append(label, what);
  return link;
}

function pages(words) {
  const start = dialog.querySelector("[data-palette-new]").content.querySelector("a");
  const all = [[start, "Action"], ...[...document.querySelectorAll(PAGES)].map((link) => [link, "Page"])];
  return all
    .map(([link, kind]) => [link.textContent.trim(), kind, link.href])
    .filter(([name]) => words.every((word) => name.toLowerCase().includes(word)))
    .map((page) => option(...page));
}

function choose(at) {
  const all = options();
  const chosen = all[Math.max(0, Math.min(at, all.length - 1))];
  all.forEach((one, number) => {
    one.id = `palette-${number}`;
    one.setAttribute("aria-selected", String(one === chosen));
  });
  if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
  else input.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({ block: "nearest" });
}
const chosen = () => options().findIndex((one) => one.getAttribute("aria-selected") === "true");

// Local results appear at once. Results of the server come first, because people type names of objects.
function search() {
  const text = input.value.trim();
  const number = ++asked;
  list.replaceChildren(...pages(text.toLowerCase().split(/\s+/)));
  choose(0);
  clearTimeout(timer);
  show(!text);
  if (!text) return;
  timer = setTimeout(async () => {
    const answer = await fetch(`${dialog.dataset.find}?q=${encodeURIComponent(text)}`).catch(() => null);
    const html = answer?.ok && !answer.redirected ? await answer.text() : "";
    if (number !== asked) return;
    list.insertAdjacentHTML("afterbegin", html);
    choose(0);
    show(true);
  }, WAIT_MS);
}

function show(isWhole) {
  const count = options().length;
  dialog.querySelector("[data-palette-none]").hidden = !isWhole || count > 0;
  if (isWhole) document.getElementById("status").textContent = `${count} result${count === 1 ? "" : "s"}`;
}

function open() {
  input.value = "";
  if (!dialog.open) dialog.showModal();
  input.focus();
  search();
}

input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) choose((chosen() + by + options().length) % options().length);
  else if (event.key === "Enter") options()[chosen()]?.click();
  else return;
  event.preventDefault();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("[role=option]")) dialog.close();
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-palette]")) open();
});
// A browser that fills in a form sends key events without a key.
document.addEventListener("keydown", (event) => {
  const isAsked = event.key?.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey) && !event.shiftKey && !event.altKey;
  if (!isAsked || event.target.closest?.(".xterm")) return;
  event.preventDefault();
  open();
});
