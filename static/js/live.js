// Live updates. The server says only what changed, by name: `w-<id>` a workload, `o-<id>` its
// output, `new-<id>` a workload that was made. Whatever shows it fetches it again.
//
// [data-live="w-<id> o-<id>"] gets the event `live` when one of its names changed; htmx fetches:
//   <section hx-get="…" hx-trigger="live" hx-swap="outerHTML" data-live="w-…">
// Modules call subscribe(names => …); `null` says that anything may have changed.
//
// Without the stream everything that is not [data-settled] is fetched every few seconds, and
// [data-live-mark] says as of when the page is (live-mark.js). A hidden page does nothing and
// catches up when it is shown.
const FIRST_MS = 10;
const GAP_MS = 250; // between two rounds, however many changes there are; output waits for itself alone
const BURST = 3; // rounds after a pause that do not wait: a workload that starts changes several times at once
const POLL_MS = 3000;
const RETRY_MS = 5000;
const SILENT_MS = 40_000; // the server says something every 15 seconds
const listeners = new Set();
const pending = new Set();
const missed = new Set(); // names of what the server did not answer
const late = new Set(); // names of what changed while an answer was on its way
let source = null;
let timer = null;
let poll = null;
let retry = null;
let last = 0; // when the last round was
let left = BURST; // rounds that had not to wait for it then
let heard = 0;

export function subscribe(listener) {
  listeners.add(listener);
}

export function announce(...names) {
  for (const name of names) pending.add(name);
  if (timer || !pending.size) return;
  timer = setTimeout(flush, Math.max(FIRST_MS, (1 - roundsLeft()) * GAP_MS));
}

// Each round takes one, each pause of GAP_MS gives one back.
function roundsLeft() {
  return Math.min(BURST, left + (performance.now() - last) / GAP_MS);
}

function spend() {
  left = Math.max(0, roundsLeft() - 1);
  last = performance.now();
}

function flush() {
  timer = null;
  if ([...pending].some((name) => !name.startsWith("o-"))) spend();
  const names = new Set(pending);
  pending.clear();
  for (const listener of listeners) listener(names);
  for (const element of document.querySelectorAll("[data-live]")) {
    if (element.dataset.live.split(" ").some((name) => names.has(name))) wake(element);
  }
}

// What was just put into the page listens only once htmx has settled it, and tells so. Another
// request would replace one that is on its way: where changes come faster than answers, no answer
// would ever be shown.
function wake(element) {
  const fresh = element.closest(".htmx-added");
  if (fresh) fresh.addEventListener("htmx:load", () => wake(element), { once: true });
  else if (element.matches(".htmx-request")) element.dataset.live.split(" ").forEach((name) => late.add(name));
  else element.dispatchEvent(new CustomEvent("live"));
}

document.body.addEventListener("htmx:afterRequest", () => {
  announce(...late);
  late.clear();
});

// What did not come is fetched again, by whatever stands there then. A refusal would be the same again.
function again({ detail }) {
  const names = detail.elt.dataset?.live;
  const status = detail.xhr?.status ?? 0;
  if (!names || (status >= 400 && status < 500)) return;
  for (const name of names.split(" ")) missed.add(name);
  retry ??= setTimeout(fetchMissed, RETRY_MS);
}

function fetchMissed() {
  retry = null;
  const names = [...missed];
  missed.clear();
  if (!document.hidden) announce(...names);
}
document.body.addEventListener("htmx:sendError", again);
document.body.addEventListener("htmx:responseError", again);

function everything() {
  spend();
  for (const listener of listeners) listener(null);
  for (const element of document.querySelectorAll("[data-live]:not([data-settled])")) wake(element);
}

function state(now) {
  document.documentElement.dataset.stream = now;
  document.dispatchEvent(new CustomEvent("stream-state", { detail: now }));
}

function startPolling() {
  state("cut");
  poll ??= setInterval(everything, POLL_MS);
}

function open() {
  const address = document.querySelector("[data-stream]:not(html)")?.dataset.stream;
  if (!address || source || document.hidden) return;
  source = new EventSource(address);
  source.onopen = () => {
    hear();
    clearInterval(poll);
    poll = null;
    state("open");
    everything(); // what changed before the stream began is in no message
  };
  source.addEventListener("beat", hear);
  source.onmessage = (event) => {
    hear();
    announce(...event.data.split(" "));
  };
  source.onerror = () => {
    startPolling();
    if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
    source = null;
    setTimeout(open, RETRY_MS);
  };
}

function hear() {
  heard = performance.now();
}

// A connection that was lost without a word still looks open: its silence tells.
setInterval(() => {
  if (source?.readyState !== EventSource.OPEN || performance.now() - heard < SILENT_MS) return;
  source.close();
  source = null;
  startPolling();
  open();
}, SILENT_MS / 4);

function close() {
  source?.close();
  source = null;
  clearInterval(poll);
  poll = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
addEventListener("pagehide", close);
addEventListener("pageshow", open);
document.body.addEventListener("live-changed", (event) => announce(...(event.detail.value ?? [])));
open();
