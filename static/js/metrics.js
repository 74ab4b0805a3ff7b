// Charts of a workload's metrics, or of runs that are compared. The library is loaded when the first one is drawn.
import { allowsLog } from "./chart-axes.js";
import { act, fillTable, linkFiles, makeCard, showPinned } from "./chart-card.js";
import { listen } from "./chart-keys.js";
import { describeMarkers } from "./chart-marks.js";
import { Options } from "./chart-options.js";
import { fit, isSingle, lastText, plot, renew } from "./chart-plot.js";

const LEAST_MS = 1000; // between two fetches while numbers stream in
const RELOADS = ["run", "x", "ranks", "zoom"];

class Charts {
  constructor(section) {
    this.section = section;
    this.plots = new Map();
    this.last = 0;
    this.options = new Options(section, (name) => this.chosen(name));
    section.addEventListener("live", () => this.soon());
    section.addEventListener("click", (event) => this.clicked(event));
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
    const address = new URL(this.section.dataset.charts, location.href);
    for (const [name, value] of this.options.query()) address.searchParams.set(name, value);
    const asked = this.asked = address.href;
    const [library, answer] = await Promise.all([
      import("../vendor/uplot/uPlot.esm.js"),
      fetch(address).catch(() => null),
    ]);
    if (!answer?.ok || !this.section.isConnected) return;
    const found = await answer.json();
    if (asked !== this.asked) return; // something else was chosen meanwhile
    this.uPlot = library.default;
    this.found = found;
    this.draw();
  }

  draw() {
    for (const holder of this.section.querySelectorAll("[data-chart-group]")) this.drawGroup(holder, holder.dataset.chartGroup);
    this.filter();
    const legend = this.section.querySelector("[data-chart-markers]");
    if (legend) legend.textContent = describeMarkers(this.found.markers[this.options.x]);
    this.section.querySelector("[data-chart-reset]").hidden = !Object.values(this.options.zoom).some(Boolean);
  }

  drawGroup(holder, group) {
    const { pin } = this.options;
    const charts = this.found[group].toSorted((a, b) => pin.includes(b.name) - pin.includes(a.name));
    const names = charts.map((chart) => [chart.name, chart.label, chart.x, isSingle(chart), ...Object.values(this.how(group, chart))].join() + linesOf(chart));
    if (holder.dataset.names !== names.join("|")) {
      holder.dataset.names = names.join("|");
      this.close(group);
      holder.replaceChildren();
      if (!charts.length) holder.append(this.section.querySelector(`[data-no-${group}]`).content.cloneNode(true));
    }
    for (const chart of charts) this.drawChart(holder, group, chart);
  }

  how(group, chart) {
    const weight = group === "training" && !isSingle(chart) ? this.options.weight : 0;
    const isLog = this.options.get("log") && !isSingle(chart) && allowsLog(chart.lines);
    return { weight, isLog };
  }

  drawChart(holder, group, chart) {
    const key = `${group} ${chart.name}`;
    const drawn = this.plots.get(key);
    const how = this.how(group, chart);
    if (drawn?.root.isConnected) {
      renew(this.uPlot, drawn, chart, how.weight);
      const dialog = drawn.root.closest("dialog.chart-dialog");
      if (dialog) fillTable(dialog, drawn);
      return;
    }
    const card = makeCard(this.section, chart, [how.weight && "smoothed", how.isLog && "log scale"].filter(Boolean).join(", "));
    card.setAttribute("aria-label", `${chart.label}: last ${lastText(chart)}`);
    showPinned(card, this.options.pin.includes(chart.name));
    linkFiles(card, chart, this.fileAddress(group));
    holder.append(card);
    const made = plot(this.uPlot, card, chart, {
      ...how,
      zoom: () => this.options.zoom[chart.x],
      markers: () => this.found.markers?.[chart.x] ?? [],
      onZoom: (axis, from, to) => this.options.zoomTo(axis, [from, to]),
      onReset: () => this.resetZoom(),
    });
    this.plots.set(key, made);
  }

  fileAddress(group) {
    const address = new URL(this.section.dataset.chartFiles, location.href);
    if (this.options.get("run")) address.searchParams.set("run", this.options.get("run"));
    if (group === "usage") address.searchParams.set("kind", group);
    return address;
  }

  chosen(name) {
    if (name === "zoom") for (const drawn of this.plots.values()) if (drawn.data) drawn.setData(drawn.data);
    if (RELOADS.includes(name)) this.load();
    else if (this.found) this.draw();
  }

  resetZoom() {
    this.options.zoom = {};
    this.options.changed("zoom");
  }

  filter() {
    const part = this.options.get("filter").trim().toLowerCase();
    for (const card of this.section.querySelectorAll(".chart")) {
      card.hidden = !`${card.dataset.name} ${card.querySelector("h3").textContent}`.toLowerCase().includes(part);
    }
    this.resize(); // what was hidden had no width
  }

  clicked(event) {
    const button = event.target.closest("[data-chart-does]");
    if (button) act(this, button.closest(".chart"), button.dataset.chartDoes);
    const files = event.target.closest(".chart-files");
    if (files) files.parentElement.open = false;
    if (event.target.closest("[data-chart-reset]")) this.resetZoom();
  }

  drawnIn(card) {
    return [...this.plots.values()].find(({ root }) => card.contains(root));
  }

  resize() {
    for (const one of this.plots.values()) fit(one);
  }

  redraw() {
    for (const holder of this.section.querySelectorAll("[data-chart-group]")) delete holder.dataset.names;
    if (this.found) this.draw();
  }

  // The library lists every plot until it is told: its canvas and numbers would stay with it.
  close(group = "") {
    this.section.querySelector("dialog.chart-dialog[open]")?.close();
    for (const [key, one] of this.plots) {
      if (!key.startsWith(group)) continue;
      one.destroy();
      this.plots.delete(key);
    }
  }
}

const linesOf = ({ lines }) => lines.map(({ label, low }) => `${label}${low ? " band" : ""}`).join();

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
listen((section) => all.get(section));
look();
