// The numbers along a chart, and from where to where its axes go.
import { tick } from "./times.js";

const UNITS = ["", "k", "M", "G", "T"];

export function short(value) {
  if (value === null || value === undefined) return "–";
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(value), 1)) / 3), 4);
  return `${Number((value / 1000 ** power).toPrecision(4))}${UNITS[power]}`;
}

// uPlot hands over the seconds between two ticks as its last argument.
export const ticks = (_, at, axis, space, step) => at.map((seconds) => tick(new Date(seconds * 1000), step));

// Numbers that are all alike get an axis around them; uPlot would draw one from 0 to 100 for a zero.
export function range(plot, low, high) {
  if (low === null) return [0, 1];
  const room = high === low ? Math.abs(high) || 1 : (high - low) * 0.1;
  const least = low >= 0 ? Math.max(0, low - room) : low - room;
  return [least, high + room];
}

// A logarithm needs something above zero everywhere.
export const allowsLog = (lines) => lines.every((line) => line.every((value) => value === null || value > 0));
