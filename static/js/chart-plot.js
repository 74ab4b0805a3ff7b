// One chart as it is drawn: lines over steps or time, or a number where there is one only.
import { ASIDE, range, short, TIMES } from "./chart-axes.js";
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

function options(chart, width, isLog) {
  const axis = { stroke: style("--ty-text-soft"), grid: { stroke: style("--ty-line"), width: 1 }, ticks: { show: false } };
  const isTime = chart.x === "time";
  return {
    width,
    height: HEIGHT,
    ...(isTime && { padding: ASIDE }),
    cursor: { sync: { key: chart.x } },
    scales: { x: { time: isTime }, y: isLog ? { distr: 3 } : { range } },
    axes: [{ ...axis, size: 32, ...(isTime && TIMES) }, { ...axis, size: 56, values: (_, ticks) => ticks.map((one) => (one === null ? "" : short(one))) }],
    series: [
      { label: chart.x, ...(isTime && { value: (_, seconds) => (seconds ? moment(new Date(seconds * 1000)) : "–") }) },
      ...chart.lines.map((label, number) => ({
        label, stroke: rankColour(number), width: 1.5, spanGaps: true,
        points: { show: chart.columns[0].length < 40 }, value: (_, value) => short(value),
      })),
    ],
  };
}

// One number is no chart.
class Single {
  constructor(card, chart) {
    this.x = chart.x;
    this.root = Object.assign(document.createElement("p"), { className: "nums" });
    card.append(this.root);
    this.setData(chart.columns);
  }

  setData([[at], ...values]) {
    const where = this.x === "step" ? `at step ${at}` : `at ${moment(new Date(at * 1000))}`;
    this.root.textContent = `${values.map(([value]) => short(value)).join(", ")} ${where}`;
  }

  setSize() {} // it is as large as its words

  destroy() {
    this.root.remove();
  }
}

export const isSingle = ({ columns }) => columns[0].length === 1;
const size = (card) => ({ width: card.clientWidth - 26, height: HEIGHT }); // within its padding

export function plot(uPlot, card, chart, columns, isLog) {
  if (isSingle(chart)) return new Single(card, chart);
  return new uPlot(options(chart, size(card).width, isLog), columns, card);
}

export function fit(plot) {
  const card = plot.root.parentElement;
  if (card?.isConnected && card.clientWidth) plot.setSize(size(card));
}
