// Charts of a workload's metrics. The library is loaded when the first one is drawn.
import { allowsLog, range, short, ticks } from "./chart-axes.js";
import { read, restore, smooth } from "./chart-options.js";
import { moment } from "./times.js";

const COLOURS = 8;
const LEAST_MS = 1000; // between two fetches while numbers stream in
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
  return {
    width,
    height: HEIGHT,
    cursor: { sync: { key: chart.x } },
    scales: { x: { time: chart.x === "time" }, y: isLog ? { distr: 3 } : { range } },
    axes: [{ ...axis, size: 32, ...(chart.x === "time" && { values: ticks }) }, { ...axis, size: 56, values: (_, ticks) => ticks.map((one) => (one === null ? "" : short(one))) }],
    series: [
      { label: chart.x, ...(chart.x === "time" && { value: (_, seconds) => (seconds ? moment(new Date(seconds * 1000)) : "–") }) },
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
}

class Charts {
  constructor(section) {
    this.section = section;
    this.plots = new Map();
    this.last = 0;
    section.addEventListener("live", () => this.soon());
    section.querySelector("[data-chart-run]")?.addEventListener("change", () => this.load());
    restore(section, () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(section);
    this.load();
  }

  soon() {
    this.timer ??= setTimeout(() => this.load(), Math.max(0, this.last + LEAST_MS - performance.now()));
  }

  async load() {
    this.timer = null;
    this.last = performance.now();
    if (!this.section.isConnected) return;
    const run = this.section.querySelector("[data-chart-run]")?.value ?? "";
    const [library, answer] = await Promise.all([
      import("../vendor/uplot/uPlot.esm.js"),
      fetch(`${this.section.dataset.charts}?run=${run}`).catch(() => null),
    ]);
    if (!answer?.ok) return;
    const found = await answer.json();
    for (const group of ["training", "usage"]) this.draw(library.default, group, found[group]);
  }

  draw(uPlot, group, charts) {
    const holder = this.section.querySelector(`[data-chart-group=${group}]`);
    const chosen = read(this.section);
    const weight = group === "training" ? chosen.smoothing : 0;
    const isSingle = ({ columns }) => columns[0].length === 1;
    const isLog = ({ columns }) => chosen.log && allowsLog(columns.slice(1));
    const names = charts.map((chart) => [chart.name, chart.lines, isSingle(chart), isLog(chart)].join());
    if (holder.dataset.names !== names.join("|")) {
      holder.dataset.names = names.join("|");
      holder.replaceChildren();
      if (!charts.length) holder.append(this.section.querySelector(`[data-no-${group}]`).content.cloneNode(true));
    }
    for (const chart of charts) {
      const key = `${group} ${chart.name}`;
      const known = this.plots.get(key);
      const [x, ...lines] = chart.columns;
      const columns = weight ? [x, ...lines.map((line) => smooth(line, weight))] : chart.columns;
      if (known?.root.isConnected) {
        known.setData(columns);
        continue;
      }
      const card = document.createElement("figure");
      card.className = "chart mb-0";
      const title = Object.assign(document.createElement("h3"), { textContent: chart.label });
      card.append(title);
      card.setAttribute("aria-label", `${chart.label}: last ${chart.columns.slice(1).map((line) => short(line.at(-1))).join(", ")}`);
      holder.append(card);
      if (isSingle(chart)) {
        this.plots.set(key, new Single(card, chart));
        continue;
      }
      const how = [weight && "smoothed", isLog(chart) && "log scale"].filter(Boolean).join(", ");
      if (how) title.append(Object.assign(document.createElement("span"), { className: "soft", textContent: ` ${how}` }));
      this.plots.set(key, new uPlot(options(chart, card.clientWidth - 26, isLog(chart)), columns, card));
    }
  }

  resize() {
    for (const plot of this.plots.values()) {
      const card = plot.root.parentElement;
      if (card?.isConnected && card.clientWidth) plot.setSize({ width: card.clientWidth - 26, height: HEIGHT });
    }
  }

  redraw() {
    for (const holder of this.section.querySelectorAll("[data-chart-group]")) {
      delete holder.dataset.names;
    }
    this.plots.clear();
    this.load();
  }
}

const known = new WeakMap();
function look() {
  for (const section of document.querySelectorAll("[data-charts]")) {
    if (!known.has(section)) known.set(section, new Charts(section));
  }
}
document.body.addEventListener("htmx:afterSettle", look);
document.addEventListener("theme-changed", () => {
  for (const section of document.querySelectorAll("[data-charts]")) known.get(section)?.redraw();
});
look();
