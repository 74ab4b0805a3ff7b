// One chart as it is drawn: lines over steps or time, or a number where there is one only.
import { ASIDE, labels, range, short, TIMES, unitsOf, width as labelWidth } from "./chart-axes.js";
import { moment } from "./times.js";

const COLOURS = 8;
const HEIGHT = 210;

export const style = (name, element = document.documentElement) => getComputedStyle(element).getPropertyValue(name).trim();
export function rankColour(number) {
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

// Marks at neighboring points as one stretch: [from, to, what the number is there].
function stretches(plot, marks) {
  const places = new Map(plot.data[0].map((x, index) => [x, index]));
  const found = [];
  for (const [at, name] of marks) {
    const last = found.at(-1);
    if (last && last[2] === name && places.get(last[1]) + 1 === places.get(at)) last[1] = at;
    else found.push([at, at, name]);
  }
  return found;
}

// A shade where numbers are not finite, between dashed lines, with what they are.
function drawMarks(plot, marks) {
  const { ctx, bbox } = plot;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = style("--ty-danger");
  ctx.font = `${11 * pixel}px ${style("--tblr-font-sans-serif") || "sans-serif"}`;
  ctx.setLineDash([3 * pixel, 3 * pixel]);
  for (const [from, to, name] of stretches(plot, marks)) {
    const [left, right] = [from, to].map((at) => plot.valToPos(at, "x", true));
    ctx.globalAlpha = 0.1;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    for (const x of [left, right]) {
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    const isAtEnd = left + ctx.measureText(name).width + 8 * pixel > bbox.left + bbox.width;
    ctx.textAlign = isAtEnd ? "right" : "left";
    ctx.fillText(name, left + (isAtEnd ? -4 : 4) * pixel, bbox.top + 12 * pixel);
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
