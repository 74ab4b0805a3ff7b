// One chart as it is drawn: lines over steps or time, or a number where there is one only.
import { ASIDE, labels, range, short, TIMES, unitsOf, width as labelWidth } from "./chart-axes.js";
import { moment } from "./times.js";

const COLOURS = 8;
const HEIGHT = 210;

const style = (name, element = document.documentElement) => getComputedStyle(element).getPropertyValue(name).trim();
function rankColour(number) {
  const probe = document.createElement("i");
  probe.className = `rank-${number % COLOURS}`;
  document.body.append(probe);
  const colour = style("--rank", probe);
  probe.remove();
  return colour;
}

const FAINT = "40"; // alpha of a color, in hexadecimal

// What a number that is not finite is, at this place of the x axis.
const markAt = (chart, x) => chart.marks.find(([at]) => at === x)?.[1];

function options(chart, width, { isLog, isSmooth }) {
  const axis = { stroke: style("--ty-text-soft"), grid: { stroke: style("--ty-line"), width: 1 }, ticks: { show: false } };
  const isTime = chart.x === "time";
  const units = unitsOf(chart);
  const line = (label, number) => ({
    label, stroke: rankColour(number), width: 1.5, spanGaps: isTime, points: { show: chart.columns[0].length < 40 },
    value: (plot, value, _, index) => (value === null && markAt(chart, plot.data[0][index])) || short(value, units),
  });
  const faint = (label, number) => ({ ...line(label, number), class: "raw-line", stroke: `${hex(rankColour(number))}${FAINT}`, points: { show: false } });
  return {
    width,
    height: HEIGHT,
    ...(isTime && { padding: ASIDE }),
    cursor: { sync: { key: chart.x } },
    scales: { x: { time: isTime }, y: isLog ? { distr: 3 } : { range } },
    axes: [{ ...axis, size: 32, ...(isTime && TIMES) }, { ...axis, size: labelWidth, values: (_, ticks) => labels(ticks, units) }],
    series: [
      { label: chart.x, ...(isTime && { value: (_, seconds) => (seconds ? moment(new Date(seconds * 1000)) : "–") }) },
      ...(isSmooth ? chart.lines.map(faint) : []),
      ...chart.lines.map(line),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, chart.marks)] },
  };
}

// Canvases take a color with an alpha in hexadecimal; styles may give it in any form.
function hex(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  return context.fillStyle;
}

// A dashed line where a number is not finite, and its name where such a stretch begins.
function drawMarks(plot, marks) {
  const { ctx, bbox } = plot;
  let previous = -Infinity;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = style("--ty-danger");
  ctx.font = `${11 * devicePixelRatio}px ${style("--bs-body-font-family") || "sans-serif"}`;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const [at, name] of marks) {
    const x = plot.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const room = ctx.measureText(name).width + 8 * devicePixelRatio;
    if (x - previous > room) {
      const isAtEnd = x + room > bbox.left + bbox.width;
      ctx.fillText(name, isAtEnd ? x - room : x + 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
      previous = x;
    }
  }
  ctx.restore();
}

// One number is no chart.
class Single {
  constructor(card, chart) {
    this.chart = chart;
    this.root = Object.assign(document.createElement("p"), { className: "nums" });
    card.append(this.root);
    this.setData(chart.columns);
  }

  setData([[at], ...values]) {
    const where = this.chart.x === "step" ? `at step ${at}` : `at ${moment(new Date(at * 1000))}`;
    const text = (value) => (value === null && markAt(this.chart, at)) || short(value, unitsOf(this.chart));
    this.root.textContent = `${values.map(([value]) => text(value)).join(", ")} ${where}`;
  }

  setSize() {} // it is as large as its words

  destroy() {
    this.root.remove();
  }
}

export const isSingle = ({ columns }) => columns[0].length === 1;
const size = (card) => ({ width: card.clientWidth - 26, height: HEIGHT }); // within its padding

export function plot(uPlot, card, chart, columns, how) {
  if (isSingle(chart)) return new Single(card, chart);
  return new uPlot(options(chart, size(card).width, how), columns, card);
}

// Show newer numbers. A part of the axis that somebody chose by dragging stays in view.
export function renew(drawn, columns) {
  const x = drawn.scales?.x;
  const [all] = drawn.data ?? [];
  const isZoomed = x && (x.min > all[0] || x.max < all.at(-1));
  const { min, max } = x ?? {};
  drawn.setData(columns, !isZoomed);
  if (isZoomed) drawn.setScale("x", { min, max });
}

export function lastText(chart) {
  const at = chart.columns[0].at(-1);
  return chart.columns.slice(1).map((line) => (line.at(-1) === null && markAt(chart, at)) || short(line.at(-1), unitsOf(chart))).join(", ");
}

export function fit(plot) {
  const card = plot.root.parentElement;
  if (card?.isConnected && card.clientWidth) plot.setSize(size(card));
}
