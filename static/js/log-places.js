// Ways to a place in the log, and a link to it: the start, the end, a time, a line that one marks.
import { inputValue } from "./times.js";

export class Places {
  constructor(section, log) {
    this.section = section;
    this.log = log;
    this.menu = section.querySelector("[data-log-places]");
    this.time = section.querySelector("[data-log-time]");
    this.menu.addEventListener("change", (event) => event.stopPropagation()); // nothing that the form asks for
    this.menu.addEventListener("toggle", () => this.suggest());
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target !== this.time) return;
      event.preventDefault();
      this.toTime();
    });
    this.menu.addEventListener("click", (event) => {
      const go = event.target.closest("[data-log-go]")?.dataset.logGo;
      if (go === "start") this.leave(() => log.toStart());
      if (go === "end") this.leave(() => log.toEnd());
      if (go === "time") this.toTime();
    });
    log.view.addEventListener("click", (event) => {
      const line = event.target.closest(".log-time, .log-rank")?.closest("[data-line]");
      if (line) log.mark(line);
    });
    section.querySelector("[data-log-link]").addEventListener("click", () => this.link());
  }

  leave(go) {
    this.menu.open = false;
    this.menu.querySelector("summary").focus();
    go();
  }

  // The time of the first line in view is where people start from.
  suggest() {
    const time = this.log.firstShown()?.querySelector("time")?.dateTime;
    if (this.menu.open && time) this.time.value = inputValue(new Date(time));
  }

  toTime() {
    const moment = new Date(this.time.value); // what it holds is meant in the reader's zone
    if (Number.isNaN(moment.valueOf())) return this.time.focus();
    this.leave(() => this.log.aimAt({ time: moment.toISOString() }));
  }

  // Of the marked line, else of the first one in view; page.js copies it.
  link() {
    const line = this.section.querySelector(".aimed") ?? this.log.firstShown();
    if (line) this.log.mark(line);
    const { page, try: attempt } = this.section.dataset;
    const query = new URLSearchParams({ try: attempt, line: line?.dataset.line ?? "" });
    this.section.querySelector("#log-link").textContent = new URL(`${page}?${query}`, location.href).href;
  }
}
