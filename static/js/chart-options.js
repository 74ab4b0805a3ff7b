// How charts are drawn. The address of the page has every choice, so that a link shows the same; the browser remembers
// those that are a habit.
const KEPT = "chart-options";
const HABITS = ["x", "smoothing", "log", "ranks", "pin"];
const OWN = ["run", "from", "to", "filter", ...HABITS];

export class Options {
  constructor(section, onChange) {
    this.section = section;
    this.fields = section.querySelectorAll("[data-chart-option]");
    this.onChange = onChange;
    this.pin = [];
    this.zoom = {}; // [from, to] by axis
    this.restore();
    for (const field of this.fields) {
      field.addEventListener(field.type === "search" ? "input" : "change", () => this.changed(field.dataset.chartOption));
    }
  }

  // Without the field, as on the page that compares runs, a choice has no value.
  get(name) {
    const field = this.field(name);
    return field?.type === "checkbox" ? field.checked : field?.value ?? "";
  }

  get x() {
    return this.get("x") || "step";
  }

  get weight() {
    return Number(this.get("smoothing"));
  }

  field(name) {
    return [...this.fields].find((field) => field.dataset.chartOption === name);
  }

  // The next choice of a field with several.
  cycle(name) {
    const field = this.field(name);
    if (!field) return;
    field.selectedIndex = (field.selectedIndex + 1) % field.options.length;
    this.changed(name);
  }

  changed(name) {
    if (name === "run" || name === "x") this.zoom = {};
    this.save();
    this.onChange(name);
  }

  togglePin(name) {
    this.pin = this.pin.includes(name) ? this.pin.filter((one) => one !== name) : [...this.pin, name];
    this.changed("pin");
  }

  zoomTo(axis, range) {
    this.zoom[axis] = range;
    this.changed("zoom");
  }

  // What the server has to know.
  query() {
    const [from, to] = this.zoom[this.x] ?? ["", ""];
    const asked = { run: this.get("run"), x: this.x, ranks: this.get("ranks"), from, to };
    return Object.entries(asked).filter(([, value]) => value !== "");
  }

  values() {
    const [from, to] = this.zoom[this.x] ?? ["", ""];
    const log = this.get("log") ? "1" : "";
    const x = this.x === "step" ? "" : this.x;
    const smoothing = this.weight ? this.get("smoothing") : "";
    return { run: this.get("run"), x, smoothing, log, ranks: this.get("ranks"), filter: this.get("filter"), pin: this.pin.join(","), from, to };
  }

  save() {
    const values = this.values();
    const kept = Object.fromEntries(HABITS.map((name) => [name, values[name]]));
    try { localStorage.setItem(KEPT, JSON.stringify(kept)); } catch { /* it lasts as long as the page */ }
    if (!("inAddress" in this.section.dataset)) return;
    const address = new URL(location.href);
    for (const name of OWN) {
      if (values[name] === "") address.searchParams.delete(name);
      else address.searchParams.set(name, values[name]);
    }
    address.search = address.search.replaceAll("%2C", ",").replaceAll("%3A", ":"); // which a query may have as they are
    history.replaceState(history.state, "", address);
  }

  // A link decides all of it; without one habits do.
  restore() {
    const asked = "inAddress" in this.section.dataset ? new URLSearchParams(location.search) : new URLSearchParams();
    let values = Object.fromEntries(OWN.map((name) => [name, asked.get(name) ?? ""]));
    if (!OWN.some((name) => asked.has(name))) values = { ...values, ...habits() };
    for (const field of this.fields) {
      const value = values[field.dataset.chartOption];
      if (field.type === "checkbox") field.checked = value === "1";
      else if (field.type === "search") field.value = value;
      else if ([...field.options].some((option) => option.value === value)) field.value = value;
    }
    this.pin = values.pin ? values.pin.split(",") : [];
    if (values.from !== "" && values.to !== "") this.zoom[this.x] = [Number(values.from), Number(values.to)];
  }
}

function habits() {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(KEPT)) ?? {});
    return Object.fromEntries(kept.filter(([name, value]) => HABITS.includes(name) && typeof value === "string"));
  } catch {
    return {}; // storage is switched off, or holds something else
  }
}

// The moving average with falling weights that TensorBoard has: early values are not pulled to zero.
export function smooth(values, weight) {
  let [sum, total] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    [sum, total] = [weight * sum + (1 - weight) * value, weight * total + 1 - weight];
    return sum / total;
  });
}
