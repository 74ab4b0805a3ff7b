// Charts of a workload's metrics. The library is loaded when the first one is drawn.
import { allowsLog } from "./chart-axes.js";
import { read, restore, smooth } from "./chart-options.js";
import { fit, isSingle, lastText, plot, renew } from "./chart-plot.js";

const LEAST_MS = 1000; // between two fetches while numbers stream in

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
    if (!answer?.ok || !this.section.isConnected) return;
    const charts = await answer.json();
    for (const group of ["training", "usage"]) this.draw(library.default, group, charts[group]);
  }

  draw(uPlot, group, charts) {
    const holder = this.section.querySelector(`[data-chart-group=${group}]`);
    const chosen = read(this.section);
    const weight = group === "training" ? chosen.smoothing : 0;
    const isLog = ({ columns }) => chosen.log && allowsLog(columns.slice(1));
    const names = charts.map((chart) => [chart.name, chart.lines, isSingle(chart), isLog(chart)].join());
    if (holder.dataset.names !== names.join("|")) {
      holder.dataset.names = names.join("|");
      this.close(group);
      holder.replaceChildren();
      if (!charts.length) holder.append(this.section.querySelector(`[data-no-${group}]`).content.cloneNode(true));
    }
    for (const chart of charts) {
      const key = `${group} ${chart.name}`;
      const drawn = this.plots.get(key);
      const [x, ...lines] = chart.columns;
      const isSmooth = weight > 0 && !isSingle(chart);
      const columns = isSmooth ? [x, ...lines, ...lines.map((line) => smooth(line, weight))] : chart.columns;
      if (drawn?.root.isConnected) {
        drawn.chart.marks = chart.marks;
        renew(drawn, columns);
        continue;
      }
      const card = document.createElement("figure");
      card.className = "chart mb-0";
      const title = Object.assign(document.createElement("h3"), { textContent: chart.label });
      card.append(title);
      card.setAttribute("aria-label", `${chart.label}: last ${lastText(chart)}`);
      holder.append(card);
      const how = [weight && "smoothed", isLog(chart) && "log scale"].filter(Boolean).join(", ");
      if (how && !isSingle(chart)) title.append(Object.assign(document.createElement("span"), { className: "soft", textContent: ` ${how}` }));
      const made = plot(uPlot, card, chart, columns, { isLog: isLog(chart), isSmooth });
      made.chart = chart;
      this.plots.set(key, made);
    }
  }

  resize() {
    for (const one of this.plots.values()) fit(one);
  }

  redraw() {
    for (const holder of this.section.querySelectorAll("[data-chart-group]")) {
      delete holder.dataset.names;
    }
    this.load();
  }

  // The library lists every plot until it is told: its canvas and numbers would stay with it.
  close(group = "") {
    for (const [key, one] of this.plots) {
      if (!key.startsWith(group)) continue;
      one.destroy();
      this.plots.delete(key);
    }
  }
}

const all = new Map(); // sections, and what draws in them
function look() {
  for (const [section, charts] of all) {
    if (section.isConnected) continue;
    charts.close();
    all.delete(section);
  }
  for (const section of document.querySelectorAll("[data-charts]")) {
    if (!all.has(section)) all.set(section, new Charts(section));
  }
}
document.body.addEventListener("htmx:afterSettle", look);
document.addEventListener("theme-changed", () => {
  for (const section of document.querySelectorAll("[data-charts]")) all.get(section)?.redraw();
});
look();
