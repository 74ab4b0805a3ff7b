// The numbers along a chart, and from where to where its axes go.
import { tick } from "./times.js";

const UNITS = ["", "k", "M", "G", "T"];
const BYTES = [" B", " KB", " MB", " GB", " TB"];
const MOST_DIGITS = 10;

export function short(value, units = UNITS, digits = 4) {
  if (value === null || value === undefined) return "–";
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(value), 1)) / 3), 4);
  return `${Number((value / 1000 ** power).toPrecision(digits))}${units[power]}`;
}

export const unitsOf = (chart) => (chart.label.endsWith("(bytes)") ? BYTES : UNITS);

// The labels of ticks, with as many digits as it takes to tell neighbors apart.
export function labels(ticks, units) {
  for (let digits = 4; ; digits += 1) {
    const texts = ticks.map((one) => (one === null ? "" : short(one, units, digits)));
    const told = texts.filter(Boolean);
    if (new Set(told).size === told.length || digits === MOST_DIGITS) return texts;
  }
}

// As wide as the longest label of the axis.
export function width(plot, texts) {
  const longest = Math.max(0, ...(texts ?? []).map((text) => text.length));
  return Math.max(44, longest * 7 + 14);
}

// Room for a time such as 10:18:15 PM, and no parts of a second, which it does not show.
const MINUTE = 60, HOUR = 3600, DAY = 86400;
const STEPS = [
  1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((one) => one * MINUTE),
  ...[1, 2, 3, 6, 12].map((one) => one * HOUR), ...[1, 2, 5, 10, 30, 90].map((one) => one * DAY),
];
export const TIMES = { space: 84, incrs: STEPS, values: ticks };
export const ASIDE = [null, 36, null, null]; // half of such a time, behind the last

// Seconds since the first sample, such as 1:05:30.
export const AFTER = { incrs: STEPS, values: (_, at) => at.map(seconds) };
export function seconds(after) {
  const whole = Math.abs(Math.round(after));
  const parts = [Math.floor(whole / MINUTE) % 60, whole % MINUTE].map((part) => String(part).padStart(2, "0"));
  return `${after <= -0.5 ? "−" : ""}${Math.floor(whole / HOUR)}:${parts.join(":")}`;
}

// uPlot hands over the seconds between two ticks as its last argument.
function ticks(_, at, axis, space, step) {
  return at.map((seconds) => tick(new Date(seconds * 1000), step));
}

// Numbers that are all alike get an axis around them; uPlot would draw one from 0 to 100 for a zero, and
// smoothing makes them differ in the last digit.
const ALIKE = 1e-9;
export function range(plot, low, high) {
  if (low === null) return [0, 1];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const room = high - low <= largest * ALIKE ? largest || 1 : (high - low) * 0.1;
  const least = low >= 0 ? Math.max(0, low - room) : low - room;
  return [least, high + room];
}

// A logarithm needs something above zero everywhere.
export const allowsLog = (lines) => lines.every(({ y, low }) => [...y, ...(low ?? [])].every((value) => value === null || value > 0));
