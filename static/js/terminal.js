// A terminal in a rank: xterm.js on a websocket. Binary messages are what is typed and shown; text is
// JSON: we send {columns, rows}, the server says {ended: why} last.
const PALETTE = { background: "--ty-sunken", foreground: "--ty-text", cursor: "--ty-accent", selectionBackground: "--ty-accent-soft" };

class Shell {
  constructor(section) {
    this.section = section;
    this.view = section.querySelector("[data-terminal-view]");
    this.rank = section.querySelector("[data-terminal-rank]");
    this.opener = section.querySelector("[data-terminal-open]");
    this.closer = section.querySelector("[data-terminal-close]");
    this.status = section.querySelector("[data-terminal-status]");
    this.opener.addEventListener("click", () => this.open());
    this.closer.addEventListener("click", () => this.socket?.close());
    this.rank.addEventListener("change", () => this.socket?.close());
    this.encoder = new TextEncoder();
  }

  async open() {
    this.opener.disabled = true;
    this.say("Connecting…");
    try {
      const [{ Terminal }, { FitAddon }] = await Promise.all([
        import("../vendor/xterm/xterm.js"), import("../vendor/xterm/addon-fit.js"),
      ]);
      this.draw(Terminal, FitAddon);
    } catch {
      this.opener.disabled = false;
      this.say("The terminal could not be loaded. Try again.");
      return;
    }
    this.connect();
  }

  draw(Terminal, FitAddon) {
    this.view.hidden = false;
    this.screen?.dispose();
    const font = getComputedStyle(document.documentElement).getPropertyValue("--ty-mono");
    this.screen = new Terminal({
      cursorBlink: true, fontFamily: font, fontSize: 13, scrollback: 5000, minimumContrastRatio: 4.5,
      screenReaderMode: true, theme: this.theme(),
    });
    this.fit = new FitAddon();
    this.screen.loadAddon(this.fit);
    this.screen.open(this.view);
    this.screen.onData((text) => this.send(this.encoder.encode(text)));
    this.screen.onBinary((text) => this.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    this.screen.onResize(({ cols, rows }) => this.send(JSON.stringify({ columns: cols, rows })));
    this.sizes ??= new ResizeObserver(() => this.view.clientWidth && this.fit.fit());
    this.sizes.observe(this.view);
    this.fit.fit();
  }

  connect() {
    const address = new URL(`${this.section.dataset.terminal}${this.rank.value}/`, location);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = this.socket = new WebSocket(address);
    const name = this.rank.selectedOptions[0].text;
    let why = "";
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.closer.hidden = false;
      this.send(JSON.stringify({ columns: this.screen.cols, rows: this.screen.rows }));
      this.say(`Connected to ${name}`);
      this.screen.focus();
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") why = JSON.parse(data).ended;
      else this.screen.write(new Uint8Array(data));
    };
    socket.onclose = () => {
      this.closer.hidden = true;
      this.opener.disabled = false;
      this.screen.options.disableStdin = true;
      this.screen.options.cursorBlink = false;
      this.say(why || "Closed.");
    };
  }

  send(data) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  say(text) {
    this.status.textContent = text;
  }

  theme() {
    const style = getComputedStyle(this.view);
    return Object.fromEntries(Object.entries(PALETTE).map(([name, key]) => [name, style.getPropertyValue(key).trim()]));
  }

  repaint() {
    if (this.screen) this.screen.options.theme = this.theme();
  }

  end() {
    this.socket?.close();
    this.sizes?.disconnect();
    this.screen?.dispose();
  }
}

const shells = new Set();

function begin() {
  for (const shell of shells) {
    if (shell.section.isConnected) continue;
    shell.end(); // its panel was replaced
    shells.delete(shell);
  }
  for (const section of document.querySelectorAll("[data-terminal]")) {
    if (![...shells].some((shell) => shell.section === section)) shells.add(new Shell(section));
  }
}

const repaint = () => shells.forEach((shell) => shell.repaint());
document.addEventListener("theme-changed", repaint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
document.addEventListener("htmx:afterSettle", begin);
begin();
