// Small manners of every page: local times, announcements, rows, copying, the narrow navigation.
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const STEPS = [["day", 86400], ["hour", 3600], ["minute", 60]];

function ago(then) {
  const seconds = (then - Date.now()) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return "just now";
}

function showTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const then = new Date(element.dateTime);
    const style = { dateStyle: "medium", timeStyle: element.dataset.seconds === undefined ? "short" : "medium" };
    const local = then.toLocaleString(undefined, style);
    const today = element.dataset.clock !== undefined && then.toDateString() === new Date().toDateString();
    if (today) element.textContent = then.toLocaleTimeString(undefined, { timeStyle: "short" });
    else element.textContent = element.dataset.relative === undefined ? local : ago(then);
    if (!element.title.includes(local)) element.title = `${local} (${element.title})`;
  }
}

function announce(root) {
  const said = root.querySelector?.("[data-announce]") ?? (root.dataset?.announce ? root : null);
  if (said) document.getElementById("status").textContent = said.dataset.announce;
}

document.body.addEventListener("htmx:afterSettle", (event) => {
  showTimes(document);
  announce(event.detail.elt);
});
document.body.addEventListener("times-changed", () => showTimes(document));
showTimes(document);
setInterval(() => document.hidden || showTimes(document), 30_000);

// Rows of a formset: [data-rows] holds a <template>, [data-rows-list], and [data-rows-add].
function addRow(holder) {
  const total = holder.querySelector("input[name$=-TOTAL_FORMS]");
  const html = holder.querySelector("template").innerHTML.replaceAll("__prefix__", total.value);
  const list = holder.querySelector("[data-rows-list]");
  list.insertAdjacentHTML("beforeend", html);
  total.value = Number(total.value) + 1;
  list.lastElementChild.querySelector("input, select, textarea")?.focus();
}

function removeRow(row) {
  const mark = row.querySelector("input[name$=-DELETE]");
  const next = row.closest("[data-rows]").querySelector("[data-rows-add]");
  if (mark) mark.checked = true;
  row.hidden = true;
  next.focus();
}

const narrow = matchMedia("(max-width: 900px)");
function openNavigation(open) {
  document.documentElement.dataset.nav = open ? "open" : "";
  document.querySelector("[data-nav-toggle]")?.setAttribute("aria-expanded", String(open));
}

async function copy(element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(element.textContent);
  getSelection().selectAllChildren(element); // there is no clipboard without TLS
  document.execCommand("copy");
}

document.addEventListener("click", async (event) => {
  const find = (selector) => event.target.closest?.(selector);
  if (find("[data-rows-add]")) addRow(find("[data-rows]"));
  else if (find("[data-rows-remove]")) removeRow(find("[data-row]"));
  else if (find("[data-copy]")) {
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
