// How charts are drawn: smoothed, and with a logarithmic scale. The browser remembers it.
const KEPT = "chart-options";
const fields = (section) => section.querySelectorAll("[data-chart-option]");

export function read(section) {
  const chosen = {};
  for (const field of fields(section)) {
    chosen[field.dataset.chartOption] = field.type === "checkbox" ? field.checked : Number(field.value);
  }
  return chosen;
}

export function restore(section, onChange) {
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(KEPT)) ?? {}; } catch { /* storage is switched off, or holds something else */ }
  for (const field of fields(section)) {
    const value = kept[field.dataset.chartOption];
    if (field.type === "checkbox") field.checked = value === true;
    else if ([...field.options].some((option) => Number(option.value) === value)) field.value = String(value);
    field.addEventListener("change", () => {
      try { localStorage.setItem(KEPT, JSON.stringify(read(section))); } catch { /* it lasts as long as the page */ }
      onChange();
    });
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
