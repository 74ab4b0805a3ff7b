// One chart as it is drawn: lines over steps or time, or a number where there is one only.
import { AFTER, ASIDE, labels, range, seconds, short, TIMES, unitsOf, width as labelWidth } from "./chart-axes.js";
import { drawMarkers, drawMarks, markAt } from "./chart-marks.js";
import { smooth } from "./chart-options.js";
import { dash, hex, rankColour, style } from "./chart-style.js";
import { moment } from "./times.js";

const HEIGHT = 210;
const FAINT = "40"; // alpha of a color, in hexadecimal
const SHADE = "30";

// The columns of a chart: x, each line, and behind it what was reported where it is smoothed, and the ends of its band.
// A place that a line has no value for is undefined, one where it has a gap is null.
export function columnsOf(uPlot, chart, weight) {
  const tables = chart.lines.map(({ x, y, low, high }) => {
    const behind = weight ? [y] : [];
    return [x, ...behind, weight ? smooth(y, weight) : y, ...(low ? [low, high] : [])];
  });
  return uPlot.join(tables);
}

function seriesOf(chart, weight) {
  const units = unitsOf(chart);
  const series = [];
  const bands = [];
  for (const { label, number, x, low } of chart.lines) {
    const colour = rankColour(number);
    const hidden = { label, class: "no-legend", points: { show: false } };
    if (weight) series.push({ ...hidden, stroke: `${hex(colour)}${FAINT}`, width: 1.5 });
    series.push({
      label, stroke: colour, width: 1.5, dash: chart.dashed ? dash(number) : [], points: { show: x.length < 40 },
      value: (plot, value, _, index) => (value === null && markAt(chart, plot.data[0][index])) || short(value, units),
    });
    if (!low) continue;
    const place = series.length + 1; // the first column is x
    series.push({ ...hidden, stroke: null, width: 0 }, { ...hidden, stroke: null, width: 0 });
    bands.push({ series: [place + 1, place], fill: `${hex(colour)}${SHADE}` });
  }
  return { series, bands };
}

const X = {
  step: { axis: {}, value: (step) => step ?? "–" },
  relative: { axis: AFTER, value: (after) => (after === null ? "–" : seconds(after)) },
  clock: { axis: TIMES, value: (at) => (at ? moment(new Date(at * 1000)) : "–") },
};

function options(chart, size, { isLog, weight, zoom, markers, onZoom, onReset }) {
  const axis = { stroke: style("--ty-text-soft"), grid: { stroke: style("--ty-line"), width: 1 }, ticks: { show: false } };
  const isTime = chart.x === "clock";
  const units = unitsOf(chart);
  const { series, bands } = seriesOf(chart, weight);
  return {
    ...size,
    ...(isTime && { padding: ASIDE }),
    cursor: { sync: { key: chart.x }, drag: { setScale: false }, bind: { dblclick: () => () => onReset(chart.x) } },
    scales: { x: { time: isTime, range: (_, low, high) => zoom() ?? (low === high ? [low - 1, high + 1] : [low, high]) }, y: isLog ? { distr: 3 } : { range } },
    axes: [{ ...axis, size: 32, ...X[chart.x].axis }, { ...axis, size: labelWidth, values: (_, ticks) => labels(ticks, units) }],
    series: [{ label: chart.x, value: (_, x) => X[chart.x].value(x) }, ...series],
    bands,
    hooks: {
      draw: [(plot) => drawMarkers(plot, markers()), (plot) => drawMarks(plot, plot.chart.marks)],
      setSelect: [(plot) => selected(plot, chart.x, onZoom)],
    },
  };
}

// A range was dragged over: in this chart, which tells it, or in another one of the same axis.
function selected(plot, x, onZoom) {
  const { left, width } = plot.select;
  if (!width) return;
  const [from, to] = [left, left + width].map((place) => round(plot, plot.posToVal(place, "x")));
  plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  if (plot.isDragged) onZoom(x, from, to);
  plot.isDragged = false;
}

// As many digits as tell one pixel from the next, for the address.
function round(plot, value) {
  const { min, max } = plot.scales.x;
  const digits = Math.max(0, 3 - Math.floor(Math.log10((max - min) || 1)));
  return Number(value.toFixed(Math.min(digits, 6)));
}

// One number is no chart.
class Single {
  constructor(card, chart) {
    this.chart = chart;
    this.root = Object.assign(document.createElement("p"), { className: "nums" });
    card.append(this.root);
    this.show();
  }

  show() {
    const [at] = this.chart.lines[0].x;
    const where = this.chart.x === "step" ? `at step ${at}` : `at ${X[this.chart.x].value(at)}`;
    const text = ({ y: [value] }) => (value === null && markAt(this.chart, at)) || short(value, unitsOf(this.chart));
    this.root.textContent = `${this.chart.lines.map(text).join(", ")} ${where}`;
  }

  xText(x) {
    return X[this.chart.x].value(x);
  }

  lineColumns() {
    return [this.chart.lines[0].x, ...this.chart.lines.map(({ y }) => y)];
  }

  setSize() {} // it is as large as its words

  destroy() {
    this.root.remove();
  }
}

export const isSingle = ({ lines }) => lines.every(({ x }) => x.length === 1 && x[0] === lines[0].x[0]);

// Within the padding of its card. A chart in a dialog fills it.
function sizeOf(card) {
  const height = card.closest("dialog.chart-dialog") ? Math.max(HEIGHT, innerHeight * 0.55) : HEIGHT;
  return { width: card.clientWidth - 26, height };
}

export function plot(uPlot, card, chart, how) {
  if (isSingle(chart)) return new Single(card, chart);
  const made = new uPlot(options(chart, sizeOf(card), how), columnsOf(uPlot, chart, how.weight), (self, init) => {
    self.chart = chart; // its first drawing asks for it
    card.append(self.root);
    init();
  });
  made.over.addEventListener("mousedown", () => (made.isDragged = true));
  return Object.assign(made, {
    xText: (x) => X[chart.x].value(x),
    lineColumns: () => columnsOf(uPlot, { lines: made.chart.lines.map(({ x, y }) => ({ x, y })) }, 0),
    legend: () => chart.lines.map(({ label, number }) => ({ label, colour: rankColour(number), dashes: chart.dashed ? dash(number) : [] })),
  });
}

// Show newer numbers, in the same range as before if somebody chose one.
export function renew(uPlot, drawn, chart, weight) {
  drawn.chart = chart;
  if (isSingle(chart)) drawn.show();
  else drawn.setData(columnsOf(uPlot, chart, weight));
}

export function lastText(chart) {
  const last = ({ x, y }) => (y.at(-1) === null && markAt(chart, x.at(-1))) || short(y.at(-1), unitsOf(chart));
  return chart.lines.map(last).join(", ");
}

export function fit(plot) {
  const card = plot.root.parentElement;
  if (card?.isConnected && card.clientWidth) plot.setSize(sizeOf(card));
}
