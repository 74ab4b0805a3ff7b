// The numbers along a chart, and from where to where its axes go.
import { tick } from "./times.js";

const UNITS = ["", "k", "M", "G", "T"];

export function short(value) {
  if (value === null || value === undefined) return "–";
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(value), 1)) / 3), 4);
  return `${Number((value / 1000 ** power).toPrecision(4))}${UNITS[power]}`;
}

// Room for a time such as 10:18:15 PM, and no parts of a second, which it does not show.
const MINUTE = 60, HOUR = 3600, DAY = 86400;
const STEPS = [
  1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((one) => one * MINUTE),
  ...[1, 2, 3, 6, 12].map((one) => one * HOUR), ...[1, 2, 5, 10, 30, 90].map((one) => one * DAY),
];
export const TIMES = { space: 84, incrs: STEPS, values: ticks };
export const ASIDE = [null, 36, null, null]; // half of such a time, behind the last

// uPlot hands over the seconds between two ticks as its last argument.
function ticks(_, at, axis, space, step) {
  return at.map((seconds) => tick(new Date(seconds * 1000), step));
}

// Numbers that are all alike get an axis around them; uPlot would draw one from 0 to 100 for a zero.
export function range(plot, low, high) {
  if (low === null) return [0, 1];
  const room = high === low ? Math.abs(high) || 1 : (high - low) * 0.1;
  const least = low >= 0 ? Math.max(0, low - room) : low - room;
  return [least, high + room];
}

// A logarithm needs something above zero everywhere.
export const allowsLog = (lines) => lines.every((line) => line.every((value) => value === null || value > 0));
