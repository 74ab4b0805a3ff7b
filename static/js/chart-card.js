// The card around a chart: its title, the buttons to pin it, to enlarge it and to save it, and the dialog in which it is large.
import { savePng } from "./chart-files.js";
import { short, unitsOf } from "./chart-axes.js";
import { fit } from "./chart-plot.js";

const MOST_ROWS = 1000; // of the table of values

export function makeCard(section, chart, how) {
  const card = section.querySelector("[data-chart-card]").content.firstElementChild.cloneNode(true);
  card.dataset.name = chart.name;
  const title = card.querySelector("h3");
  title.textContent = chart.label;
  if (how) title.append(Object.assign(document.createElement("span"), { className: "soft", textContent: ` ${how}` }));
  for (const button of card.querySelectorAll("[data-chart-does][title]")) {
    button.setAttribute("aria-label", `${button.title}: ${chart.label}`);
  }
  return card;
}

export function showPinned(card, isPinned) {
  const button = card.querySelector("[data-chart-does=pin]");
  button.setAttribute("aria-pressed", String(isPinned));
}

// The addresses of all that was reported of a chart's metrics; what is drawn of it as a picture.
export function linkFiles(card, chart, address) {
  for (const link of card.querySelectorAll("[data-chart-file]")) {
    const file = new URL(address, location.href);
    file.pathname = file.pathname.replace(/csv$/, link.dataset.chartFile);
    for (const name of chart.names) file.searchParams.append("name", name);
    link.href = file;
  }
}

export async function act(charts, card, what) {
  const drawn = charts.drawnIn(card);
  if (what === "pin") charts.options.togglePin(card.dataset.name);
  if (what === "enlarge") enlarge(charts, card);
  if (what === "png") await savePng(drawn, card);
}

// The card moves into the dialog, where it goes on being drawn, and back.
function enlarge(charts, card) {
  const dialog = charts.section.querySelector("dialog.chart-dialog");
  if (dialog.open) return dialog.close();
  const place = document.createComment("");
  card.replaceWith(place);
  dialog.querySelector("[data-chart-place]").replaceChildren(card);
  dialog.setAttribute("aria-label", card.querySelector("h3").textContent);
  dialog.showModal();
  fit(charts.drawnIn(card));
  fillTable(dialog, charts.drawnIn(card));
  dialog.addEventListener("close", () => {
    place.replaceWith(card);
    if (charts.drawnIn(card)) fit(charts.drawnIn(card));
    card.querySelector("[data-chart-does=enlarge]").focus();
  }, { once: true });
}

export function fillTable(dialog, drawn) {
  const { chart } = drawn;
  const columns = drawn.lineColumns();
  const table = dialog.querySelector(".grid-table");
  const cells = (texts, tag) => {
    const row = document.createElement("tr");
    for (const text of texts) row.append(Object.assign(document.createElement(tag), { textContent: text, className: "num" }));
    return row;
  };
  const units = unitsOf(chart);
  const rows = columns[0].slice(-MOST_ROWS).map((x, index) => {
    const at = Math.max(columns[0].length - MOST_ROWS, 0) + index;
    return cells([drawn.xText(x), ...columns.slice(1).map((line) => (line[at] === undefined ? "" : short(line[at], units, 6)))], "td");
  });
  table.tHead.replaceChildren(cells([chart.x, ...chart.lines.map(({ label }) => label)], "th"));
  table.tBodies[0].replaceChildren(...rows);
}
