// The log of a workload: its lines, the search, and what the page's address says of them.
import { options } from "./log-options.js";
import { Places } from "./log-places.js";
import { Search } from "./log-search.js";
import { LogView } from "./log-view.js";
const POLL_MS = 2000;

class Log extends LogView {
  constructor(section) {
    super(section);
    this.search = new Search(section, this);
    this.places = new Places(section, this);
    options(section, this.view);
    // Of many ranks several are ticked before they are shown.
    section.querySelector("[data-log-ranks]")?.addEventListener("change", (event) => event.stopPropagation());
    section.addEventListener("live", () => this.forward());
    if (!("over" in section.dataset)) this.poll();
  }

  // While the stream of changes is cut.
  poll() {
    const timer = setInterval(() => {
      if (!this.section.isConnected) clearInterval(timer);
      else if (!document.hidden && document.documentElement.dataset.stream !== "open") this.forward();
    }, POLL_MS);
  }

  begin() {
    const { aim } = this.section.dataset;
    this.hold(this.view.querySelector(".log-window"));
    if (aim) this.mark(this.line(aim), true);
    else this.toBottom();
    this.share();
    if (this.search.text) this.search.go(aim ? "here" : "next", aim ?? ""); // also what was typed before the lines came
    if (this.more && !this.isFilled) this.back();
    this.forward();
  }

  line(name) {
    return this.view.querySelector(`[data-line="${CSS.escape(name ?? "")}"]`);
  }

  firstShown() {
    const top = this.view.getBoundingClientRect().top;
    return [...this.view.getElementsByClassName("log-line")].find((line) => line.getBoundingClientRect().top >= top - 1);
  }

  follow(on) {
    super.follow(on);
    this.share();
  }

  // The line that the page's address names.
  mark(line, center = false) {
    if (!line) return;
    this.view.querySelector(".aimed")?.classList.remove("aimed");
    line.classList.add("aimed");
    this.follow(false);
    if (center) this.center(line);
  }

  // To a line or a time, with what is around it.
  async aimAt(where) {
    const isHere = where.line && this.marked === this.text && this.line(where.line);
    if (isHere || (await this.show(where))) this.mark(this.line(where.line ?? this.aim), true);
  }

  async toStart() {
    if (!(await this.show({ after: "0.0" }))) return;
    [this.more, this.cut] = [false, this.more]; // the lines that it lacks come after it
    this.follow(false);
    this.view.scrollTop = 0;
    this.note();
    if (!this.isFilled) this.forward();
  }

  center(line) {
    const [box, view] = [line.getBoundingClientRect(), this.view.getBoundingClientRect()];
    this.view.scrollTop += box.top - view.top - view.height / 2;
    const mark = line.querySelector("mark")?.getBoundingClientRect();
    if (mark && (mark.right > view.right || mark.left < view.left)) this.view.scrollLeft += mark.left - view.left - view.width / 2;
  }

  // The text that is marked in lines from now on.
  look(text) {
    if (text) this.query.set("text", text);
    else this.query.delete("text");
    this.share();
    if (!text) for (const mark of this.view.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
  }

  // The address of the page says what is looked at; beside the table it is the table's.
  share() {
    const { page } = this.section.dataset;
    const line = this.view.querySelector(".aimed")?.dataset.line;
    const query = new URLSearchParams([...this.query, ...(line ? [["line", line]] : [])]);
    if (location.pathname === page) history.replaceState(history.state, "", `${page}?${query}`);
  }
}

const logs = new WeakMap();
document.body.addEventListener("htmx:afterSettle", () => {
  for (const section of document.querySelectorAll("[data-logs]")) {
    if (logs.has(section) || !section.querySelector(".log-window")) continue;
    logs.set(section, new Log(section));
    logs.get(section).begin();
  }
});
