// GPUs over time: a stepped band for each project or node pool, one on the other, below the lines of the quota and
// of what the clusters have.
import { short, TIMES, labels } from "./chart-axes.js";
import { rankColour, style } from "./chart-style.js";
import { moment } from "./times.js";

const EVERY_MS = 60_000;
const HEIGHT = 210;
const FILL = "66"; // alpha of a color, in hexadecimal

class GpuChart {
  constructor(section) {
    this.section = section;
    this.holder = section.querySelector("[data-chart]");
    new ResizeObserver(() => this.fit()).observe(this.holder);
    setInterval(() => document.hidden || this.load(), EVERY_MS);
    document.addEventListener("theme-changed", () => this.draw());
    this.load();
  }

  async load() {
    const [library, answer] = await Promise.all([
      import("../vendor/uplot/uPlot.esm.js"),
      fetch(this.section.dataset.gpus).catch(() => null),
    ]);
    if (!answer?.ok) return;
    this.uPlot = library.default;
    this.data = await answer.json();
    this.draw();
  }

  draw() {
    if (!this.data) return;
    this.plot?.destroy();
    const { times, bands, quota, capacity } = this.data;
    const constant = (value) => times.map(() => value);
    // The sum of all bands is drawn first, and each smaller sum over it.
    const sums = bands.map((_, index) => times.map((_, at) => bands.slice(0, index + 1).reduce((sum, band) => sum + band.gpus[at], 0)));
    const columns = [times, ...sums.toReversed(), constant(quota), constant(capacity)];
    this.holder.replaceChildren();
    this.plot = new this.uPlot(this.options(), columns, this.holder);
    const now = bands.map(({ label, gpus }) => `${label} ${short(gpus.at(-1))}`).join(", ") || "none";
    this.section.querySelector("[data-chart-words]").textContent = `Allocated now: ${now}. Quota ${short(quota)}, clusters ${short(capacity)}.`;
  }

  options() {
    const { bands, quota, capacity } = this.data;
    const axis = { stroke: style("--ty-text-soft"), grid: { stroke: style("--ty-line"), width: 1 }, ticks: { show: false } };
    const line = (label, dash, stroke, value) => ({ label, stroke, dash, width: 1, points: { show: false }, value: () => short(value) });
    const band = ({ label, gpus }, index) => ({
      label, stroke: rankColour(index), fill: `${rankColour(index)}${FILL}`, width: 1, points: { show: false },
      paths: this.uPlot.paths.stepped({ align: -1 }), value: (_, value, series, at) => short(at === null ? gpus.at(-1) : gpus[at]),
    });
    return {
      width: this.holder.clientWidth,
      height: HEIGHT,
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.05] } },
      axes: [{ ...axis, size: 32, ...TIMES }, { ...axis, size: 44, values: (_, ticks) => labels(ticks) }],
      series: [
        { label: "time", value: (_, seconds) => (seconds ? moment(new Date(seconds * 1000)) : "now") },
        ...bands.map(band).reverse(),
        line("quota", [6, 4], style("--ty-text"), quota),
        line("GPUs of the clusters", null, style("--ty-text-soft"), capacity),
      ],
    };
  }

  fit() {
    if (this.plot && this.holder.clientWidth) this.plot.setSize({ width: this.holder.clientWidth, height: HEIGHT });
  }
}

const section = document.querySelector("[data-gpus]");
if (section) new GpuChart(section);
