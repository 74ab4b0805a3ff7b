// Live updates. The server says only what changed, by name: `w-<id>` a workload, `o-<id>` its
// output, `new-<id>` a workload that was made. Whatever shows it fetches it again.
//
// [data-live="w-<id> o-<id>"] gets the event `live` when one of its names changed; htmx fetches:
//   <section hx-get="…" hx-trigger="live" hx-swap="outerHTML" data-live="w-…">
// Modules call subscribe(names => …); `null` says that anything may have changed.
//
// Without the stream everything that is not [data-settled] is fetched every few seconds. A hidden
// page does nothing and catches up when it is shown.
const FIRST_MS = 60;
const GAP_MS = 250; // between two rounds, however many changes there are
const POLL_MS = 3000;
const RETRY_MS = 5000;
const listeners = new Set();
const pending = new Set();
let source = null;
let timer = null;
let poll = null;
let last = 0;

export function subscribe(listener) {
  listeners.add(listener);
}

export function announce(...names) {
  for (const name of names) pending.add(name);
  if (timer) return;
  const wait = Math.max(FIRST_MS, last + GAP_MS - performance.now());
  timer = setTimeout(flush, wait);
}

function flush() {
  timer = null;
  last = performance.now();
  const names = new Set(pending);
  pending.clear();
  for (const listener of listeners) listener(names);
  for (const element of document.querySelectorAll("[data-live]")) {
    if (element.dataset.live.split(" ").some((name) => names.has(name))) wake(element);
  }
}

function wake(element) {
  element.dispatchEvent(new CustomEvent("live"));
}

function everything() {
  last = performance.now();
  for (const listener of listeners) listener(null);
  for (const element of document.querySelectorAll("[data-live]:not([data-settled])")) wake(element);
}

function startPolling() {
  document.documentElement.dataset.stream = "cut";
  poll ??= setInterval(everything, POLL_MS);
}

function open() {
  const address = document.querySelector("[data-stream]:not(html)")?.dataset.stream;
  if (!address || source || document.hidden) return;
  source = new EventSource(address);
  source.onopen = () => {
    clearInterval(poll);
    poll = null;
    document.documentElement.dataset.stream = "open";
    everything(); // what changed before the stream began is in no message
  };
  source.onmessage = (event) => announce(...event.data.split(" "));
  source.onerror = () => {
    startPolling();
    if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
    source = null;
    setTimeout(open, RETRY_MS);
  };
}

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
