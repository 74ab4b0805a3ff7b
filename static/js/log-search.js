// Searching the whole log, not only what the page holds: the server counts the lines with a text, for
// a moment a request, and says where the next or the previous one is.
const TYPING_MS = 300;
const language = document.documentElement.lang || "en";
const number = new Intl.NumberFormat(language);
const size = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const megabytes = (bytes) => (bytes < 1e9 ? `${size.format(bytes / 1e6)} MB` : `${size.format(bytes / 1e9)} GB`);

export class Search {
  constructor(section, log) {
    this.section = section;
    this.log = log;
    this.input = section.querySelector("[data-log-search]");
    this.only = section.querySelector("[name=only]");
    this.status = section.querySelector("[data-log-hits]");
    this.line = "";
    this.turn = 0;
    this.input.addEventListener("change", (event) => event.stopPropagation()); // the form would fetch all again
    this.input.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.begin(), TYPING_MS);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.go(event.shiftKey ? "previous" : "next");
    });
    for (const button of section.querySelectorAll("[data-log-step]")) {
      button.addEventListener("click", () => this.go(button.dataset.logStep));
    }
  }

  get text() {
    return this.input.value.trim() && this.input.value; // "step 1 " is not "step 10"
  }

  begin() {
    clearTimeout(this.typing);
    if (this.text === this.log.text) return;
    if (this.only.checked) this.section.querySelector("form").requestSubmit(); // other lines are shown then
    else this.go("next");
  }

  // From `line` on, else from where the last step led; with another text from the start.
  async go(direction, line = this.text === this.log.text ? this.line : "") {
    clearTimeout(this.typing);
    this.line = line;
    if (this.text !== this.log.text) this.status.textContent = "Searching"; // what stands there is of another text
    this.log.look(this.text);
    const turn = ++this.turn;
    if (!this.text) return this.say("");
    this.status.setAttribute("aria-busy", "true"); // only the result is read out
    for (;;) {
      const answer = await this.ask(direction);
      if (turn !== this.turn || !this.section.isConnected) return;
      if (!answer) return this.say("The search was interrupted. Press Enter to continue.");
      if (answer.searched >= answer.size) return this.show(answer, direction);
      const share = Math.floor((100 * answer.searched) / answer.size);
      this.status.textContent = `${number.format(answer.count)} so far, searched ${share} % of ${megabytes(answer.size)}`;
    }
  }

  async ask(direction) {
    const { search } = this.section.dataset;
    const query = new URLSearchParams([...this.log.query, ["go", direction], ["line", this.line]]);
    try {
      const answer = await fetch(`${search}?${query}`, { headers: { "HX-Request": "true" } });
      return answer.ok ? await answer.json() : null;
    } catch {
      return null; // the server is away, and the page says so
    }
  }

  show({ count, hit }, direction) {
    if (!hit) return this.say("No matching lines");
    const isHere = direction !== "here" || hit.line === this.line; // a link may be to a line without the text
    this.say(`${isHere ? `${number.format(hit.number)} of ` : ""}${number.format(count)} ${count === 1 ? "line" : "lines"}`);
    if (!isHere) return;
    this.line = hit.line;
    this.log.aimAt({ line: hit.line });
  }

  say(text) {
    this.status.removeAttribute("aria-busy");
    this.status.textContent = text;
  }
}
