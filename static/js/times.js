// Times as people read them: one format on all pages, in the reader's zone and the page's language.
// Whether the day has 12 or 24 hours is the reader's habit, not the language's.
const language = document.documentElement.lang || "en";
const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions();
const format = (options) => new Intl.DateTimeFormat(language, { ...options, hourCycle });
const full = format({ dateStyle: "medium", timeStyle: "medium" });
const named = format({ dateStyle: "medium", timeStyle: "long" });
const clock = format({ timeStyle: "medium" });
const minute = format({ timeStyle: "short" });
const day = format({ month: "short", day: "numeric" });
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
const STEPS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const DAY = 86400;
export const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export const moment = (then) => full.format(then);

// What a field of the type datetime-local takes: the reader's own time, without a zone.
export function inputValue(then) {
  return new Date(then - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

// Of a moment near others, what tells it from them: `step` is the seconds between them.
export function tick(then, step) {
  if (step >= DAY) return day.format(then);
  return (step >= 60 ? minute : clock).format(then);
}

function ago(then) {
  const seconds = (then - Date.now()) / 1000;
  for (const [unit, size] of STEPS) {
    const many = seconds / size; // in 90 days, not 89, from the first second on; 1.9 days ago was yesterday
    if (Math.abs(many) >= 1) return relative.format(many > 0 ? Math.round(many) : Math.trunc(many), unit);
  }
  return "just now";
}

function short(then) {
  const today = new Date();
  if (then.toDateString() === today.toDateString()) return clock.format(then);
  return then.getFullYear() === today.getFullYear() ? `${day.format(then)}, ${clock.format(then)}` : full.format(then);
}

let shown = new WeakSet();
let date = new Date().toDateString();

export function showTimes(root) {
  const now = new Date().toDateString();
  if (now !== date) [date, shown] = [now, new WeakSet()]; // what was today is not any more
  for (const element of root.querySelectorAll("time[datetime]")) {
    if (shown.has(element)) continue;
    const then = new Date(element.dateTime);
    // In one line; the full time, which stands there before, may wrap.
    if (element.dataset.relative !== undefined) element.textContent = ago(then).replaceAll(" ", "\u00a0");
    else {
      element.textContent = element.dataset.clock === undefined ? full.format(then) : short(then);
      shown.add(element);
    }
    if (!element.title.includes(zone)) element.title = `${named.format(then)}, ${zone} (${element.title})`;
  }
  for (const element of root.querySelectorAll("[data-zone]")) element.textContent = zone;
}
