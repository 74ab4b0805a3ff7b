// The lines of a log: new ones at the bottom while it is in view, older ones when scrolled up, or those
// around another place. Windows of lines come as HTML with a cursor at each end; the page keeps a few
// thousand lines.
import { showTimes } from "./times.js";
const MOST_LINES = 6000;
const NEAR = 60; // pixels from an edge that count as being there

export class LogView {
  constructor(section) {
    this.section = section;
    this.view = section.querySelector("[data-log-view]");
    this.button = section.querySelector("[data-log-follow]");
    this.query = new URLSearchParams(section.dataset.query);
    this.following = true;
    this.busy = false;
    this.place = 0; // counts the jumps: what was asked for before one belongs elsewhere
    this.view.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.button.addEventListener("click", () => (this.following ? this.follow(false) : this.toEnd()));
  }

  get text() {
    return this.query.get("text") ?? "";
  }

  get isFilled() {
    return this.view.scrollHeight > this.view.clientHeight;
  }

  // What the view holds now: one window, with more before and behind it as it says.
  hold(window) {
    Object.assign(this, { start: window.dataset.start, end: window.dataset.end });
    Object.assign(this, { more: "more" in window.dataset, cut: "later" in window.dataset });
    this.aim = window.dataset.aim;
    this.marked = this.text;
    this.note();
  }

  toBottom() {
    this.view.scrollTop = this.view.scrollHeight;
  }

  follow(on) {
    this.following = on;
    this.button.setAttribute("aria-pressed", String(on));
    if (!on) return;
    this.toBottom();
    this.forward();
  }

  async toEnd() {
    if (!this.cut || (await this.show({}))) this.follow(true);
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.view;
    const atBottom = scrollHeight - scrollTop - clientHeight < NEAR;
    if (atBottom && this.cut) this.forward();
    else if (this.following !== atBottom && !this.busy) this.follow(atBottom);
    if (scrollTop < NEAR && this.more) this.back();
  }

  async window(where) {
    const query = new URLSearchParams([...this.query, ...Object.entries(where)]);
    const place = this.place;
    const answer = await fetch(`${this.section.dataset.lines}?${query}`, { headers: { "HX-Request": "true" } });
    const text = answer.ok ? await answer.text() : "";
    if (!text || place !== this.place) return null;
    const holder = document.createElement("template");
    holder.innerHTML = text;
    showTimes(holder.content);
    const window = holder.content.querySelector(".log-window");
    window.live = holder.content.querySelector(".log-live");
    return window;
  }

  // Lines that are not finished, such as progress bars, at the end: their newest state in place of the one before.
  redraw(live) {
    const before = this.view.querySelector(".log-live");
    if (before && live) before.replaceWith(live);
    else if (live) this.view.append(live);
    else before?.remove();
  }

  async forward() {
    if (this.busy || this.end === undefined) return;
    if (!this.following && !this.cut) return; // it catches up at the bottom
    this.busy = true;
    try {
      const next = await this.window({ after: this.end });
      if (!next) return;
      this.end = next.dataset.end;
      this.cut = "more" in next.dataset;
      if (next.childElementCount) {
        this.view.insertBefore(next, this.view.querySelector(".log-live"));
        this.trim(true);
      }
      this.redraw(next.live);
      this.note();
      if (this.following) this.toBottom();
    } catch { /* the server is away; the next change asks again */ } finally {
      this.busy = false;
    }
    if (this.cut && (this.following || !this.isFilled)) this.forward();
  }

  async back() {
    if (this.busy || this.start === undefined) return;
    this.busy = true;
    try {
      const previous = await this.window({ before: this.start });
      if (!previous) return;
      this.start = previous.dataset.start;
      this.more = "more" in previous.dataset;
      const before = this.view.scrollHeight;
      this.view.prepend(previous);
      this.note();
      this.view.scrollTop += this.view.scrollHeight - before;
      this.trim(false);
    } catch { /* scrolling again asks again */ } finally {
      this.busy = false;
    }
    if (this.more && this.view.scrollTop < NEAR && (!this.following || !this.isFilled)) this.back();
  }

  // Far away lines leave the page; they come back from the server when they are scrolled to.
  trim(fromTop) {
    const windows = this.view.getElementsByClassName("log-window");
    while (windows.length > 2 && this.view.getElementsByClassName("log-line").length > MOST_LINES) {
      const gone = fromTop ? windows[0] : windows[windows.length - 1];
      gone.remove();
      if (fromTop) [this.start, this.more] = [windows[0].dataset.start, true];
      else [this.end, this.cut] = [windows[windows.length - 1].dataset.end, true];
    }
  }

  // Another window in place of all that is here. Whether it came.
  async show(where) {
    this.place += 1;
    const window = await this.window(where).catch(() => null); // the page says that the server is away
    if (!window) return false;
    this.place += 1;
    this.view.replaceChildren(window, ...(window.live ? [window.live] : []));
    this.hold(window);
    return true;
  }

  note() {
    this.view.querySelector(".log-note")?.remove();
    const lines = this.view.getElementsByClassName("log-line").length;
    if (lines && !this.more) return;
    let text = this.query.has("only") ? "No matching lines" : "No output yet";
    if (this.query.get("ranks") === "none") text = "No ranks selected";
    else if (this.more) text = "Scroll up for earlier lines";
    const note = Object.assign(document.createElement("div"), { className: "log-note", textContent: text });
    this.view.prepend(note);
  }
}
