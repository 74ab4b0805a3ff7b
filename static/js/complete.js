// Completes keys in a YAML text area with data-completes, the id of a JSON description: a mapping has keys below, a text is
// the type of the value. Ctrl+Space or a letter at the place of a key lists what is allowed there.
const list = document.createElement("ul");
list.className = "completions";
list.id = "completions";
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Keys that are allowed here");
list.hidden = true;
const MOST = 40;
let offered = [];
let chosen = 0;

// The line at the cursor, and the keys above it that are less indented, the outermost first.
function place(area) {
  const before = area.value.slice(0, area.selectionStart).split("\n");
  const typed = before.pop();
  const match = /^( *)([\w]*)$/.exec(typed);
  if (!match) return null;
  let indent = match[1].length;
  const path = [];
  for (const line of before.reverse()) {
    const key = /^( *)([\w]+):\s*(#.*)?$/.exec(line);
    if (!line.trim() || line.trim().startsWith("#")) continue;
    const depth = /^ */.exec(line)[0].length;
    if (depth >= indent) continue;
    if (!key) return null; // below a value or an item
    path.unshift(key[2]);
    indent = depth;
  }
  return indent > 0 ? null : { path, typed: match[2] };
}

function keysAt(description, path) {
  let keys = description;
  for (const step of path) {
    keys = keys?.[step];
    if (typeof keys !== "object") return null;
  }
  return keys;
}

// Where the line below the cursor begins. Lines do not wrap; the list stays within the text's bounds.
function belowCursor(area) {
  const style = getComputedStyle(area);
  const lines = area.value.slice(0, area.selectionStart).split("\n").length;
  const end = Number.parseFloat(style.paddingTop) + lines * Number.parseFloat(style.lineHeight) - area.scrollTop;
  return Math.min(end, area.offsetHeight);
}

function close() {
  list.hidden = true;
  list.parentElement?.querySelector("textarea").removeAttribute("aria-activedescendant");
}

function draw(area) {
  list.replaceChildren(...offered.map(([key, kind], number) => {
    const item = document.createElement("li");
    const note = document.createElement("span");
    item.id = `completion-${number}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(number === chosen));
    note.textContent = typeof kind === "string" ? kind : "";
    item.append(key, note);
    return item;
  }));
  area.setAttribute("aria-controls", list.id);
  area.setAttribute("aria-activedescendant", `completion-${chosen}`);
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

function open(area, always) {
  const at = place(area);
  const keys = at && keysAt(JSON.parse(document.getElementById(area.dataset.completes).textContent), at.path);
  offered = keys ? Object.entries(keys).filter(([key]) => key.startsWith(at.typed) && key !== at.typed).slice(0, MOST) : [];
  if (!offered.length || (!always && !at.typed)) return close();
  chosen = 0;
  area.parentElement.append(list);
  list.hidden = false;
  draw(area);
  list.style.top = `${belowCursor(area)}px`;
}

function take(area) {
  const [key, kind] = offered[chosen];
  const { typed } = place(area);
  const start = area.selectionStart - typed.length;
  const indent = " ".repeat(/ *$/.exec(area.value.slice(0, start).split("\n").pop())[0].length + 2);
  area.setRangeText(typeof kind === "string" ? `${key}: ` : `${key}:\n${indent}`, start, area.selectionStart, "end");
  close();
}

document.addEventListener("input", ({ target }) => {
  if (target.matches?.("[data-completes]")) open(target, false);
});
document.addEventListener("keydown", (event) => {
  const area = event.target;
  if (!area.matches?.("[data-completes]")) return;
  if (event.ctrlKey && event.code === "Space") {
    event.preventDefault();
    open(area, true);
  } else if (!list.hidden && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
    draw(area);
  } else if (!list.hidden && ["Enter", "Tab"].includes(event.key)) {
    event.preventDefault();
    take(area);
  } else if (!list.hidden && event.key === "Escape") close();
});
list.addEventListener("mousedown", (event) => {
  event.preventDefault(); // the text keeps the cursor
  chosen = [...list.children].indexOf(event.target.closest("li"));
  take(list.parentElement.querySelector("textarea"));
});
document.addEventListener("focusout", ({ target }) => target.matches?.("[data-completes]") && close());
