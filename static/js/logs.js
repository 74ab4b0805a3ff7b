// Following the logs: new lines at the bottom while it is in view, older ones when scrolled up.
// Windows of lines come as HTML with a cursor at each end; the page keeps a few thousand lines.
const MOST_LINES = 6000;
const NEAR = 60; // pixels from an edge that count as being there
const POLL_MS = 2000;

class Follower {
  constructor(section) {
    this.section = section;
    this.view = section.querySelector("[data-log-view]");
    this.button = section.querySelector("[data-log-follow]");
    this.following = true;
    this.busy = false;
    section.addEventListener("live", () => this.forward());
    this.view.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.button.addEventListener("click", () => this.follow(!this.following));
    this.option("[data-log-wrap]", "wraps-lines", "log-wrap");
    this.option("[data-log-times]", "show-times", "log-times");
    if (!("over" in section.dataset)) {
      this.timer = setInterval(() => {
        if (!section.isConnected) clearInterval(this.timer);
        else if (!document.hidden && document.documentElement.dataset.stream !== "open") this.forward();
      }, POLL_MS);
    }
  }

  option(selector, name, key) {
    const box = this.section.querySelector(selector);
    const stored = sessionStorage.getItem(key);
    if (stored) box.checked = stored === "yes";
    const apply = () => this.view.classList.toggle(name, box.checked);
    box.addEventListener("change", (event) => {
      event.stopPropagation(); // the form around it would ask the server again
      sessionStorage.setItem(key, box.checked ? "yes" : "no");
      apply();
    });
    apply();
  }

  begin() {
    const first = this.view.querySelector(".log-window");
    this.start = first.dataset.start;
    this.end = first.dataset.end;
    this.more = "more" in first.dataset;
    this.note();
    this.toBottom();
    if (this.more && this.view.scrollHeight <= this.view.clientHeight) this.back();
    this.forward();
  }

  toBottom() {
    this.view.scrollTop = this.view.scrollHeight;
  }

  follow(on) {
    this.following = on;
    this.button.setAttribute("aria-pressed", String(on));
    if (on) {
      this.toBottom();
      this.forward();
    }
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.view;
    const atBottom = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this.following !== atBottom && !this.busy) this.follow(atBottom);
    if (scrollTop < NEAR && this.more) this.back();
    if (atBottom && this.cut) this.forward();
  }

  async window(name, cursor) {
    const { lines, query } = this.section.dataset;
    const answer = await fetch(`${lines}?${query}&${name}=${cursor}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return null;
    const holder = document.createElement("template");
    holder.innerHTML = await answer.text();
    return holder.content.querySelector(".log-window");
  }

  async forward() {
    if (this.busy || this.end === undefined) return;
    if (!this.following && !this.cut) return; // it catches up at the bottom
    this.busy = true;
    try {
      const found = await this.window("after", this.end);
      if (!found) return;
      this.end = found.dataset.end;
      this.cut = "more" in found.dataset;
      if (found.childElementCount) {
        this.view.append(found);
        this.trim(true);
        this.note();
        if (this.following) this.toBottom();
      }
    } catch { /* the server is away; the next change asks again */ } finally {
      this.busy = false;
    }
    if (this.cut && this.following) this.forward();
  }

  async back() {
    if (this.busy || this.start === undefined) return;
    this.busy = true;
    try {
      const found = await this.window("before", this.start);
      if (!found) return;
      this.start = found.dataset.start;
      this.more = "more" in found.dataset;
      const before = this.view.scrollHeight;
      this.view.prepend(found);
      this.note();
      this.view.scrollTop += this.view.scrollHeight - before;
      this.trim(false);
    } catch { /* scrolling again asks again */ } finally {
      this.busy = false;
    }
    if (this.more && this.view.scrollTop < NEAR && !this.following) this.back();
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

  note() {
    this.view.querySelector(".log-note")?.remove();
    const lines = this.view.getElementsByClassName("log-line").length;
    if (lines && !this.more) return;
    const text = this.more ? "Scroll up for earlier lines" : this.section.dataset.query.includes("text=") ? "No line has this text" : "Nothing was printed yet";
    const note = Object.assign(document.createElement("div"), { className: "log-note", textContent: text });
    this.view.prepend(note);
  }
}

const followers = new WeakMap();
document.body.addEventListener("htmx:afterSettle", () => {
  for (const section of document.querySelectorAll("[data-logs]")) {
    if (followers.has(section) || !section.querySelector(".log-window")) continue;
    followers.set(section, new Follower(section));
    followers.get(section).begin();
  }
});
