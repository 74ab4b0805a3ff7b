// Keys of charts: of all of them, and of the one below the pointer or with the focus.
import { act } from "./chart-card.js";
import { single } from "./keys.js";

const OF_ALL = {
  s: (charts) => charts.options.cycle("smoothing"),
  t: (charts) => charts.options.cycle("x"),
  r: (charts) => charts.resetZoom(),
};
const OF_ONE = { p: "pin", f: "enlarge" };
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

// The next point of the lines in this direction.
function move(drawn, by) {
  if (!drawn?.cursor) return;
  const [x] = drawn.data;
  const at = drawn.cursor.idx ?? (by > 0 ? -1 : x.length);
  const next = x[Math.min(Math.max(at + by, 0), x.length - 1)];
  if (next !== undefined) drawn.setCursor({ left: drawn.valToPos(next, "x"), top: 10 });
}

export function listen(chartsOf) {
  document.addEventListener("keydown", (event) => {
    const key = single(event);
    const section = key && document.querySelector("[data-charts]");
    const charts = section && chartsOf(section);
    if (!charts) return;
    const card = section.querySelector(".chart:focus-within") ?? section.querySelector(".chart:hover");
    if (key in OF_ALL && !event.repeat) OF_ALL[key](charts);
    else if (card && key in OF_ONE && !event.repeat) act(charts, card, OF_ONE[key]);
    else if (card && key in STEPS) move(charts.drawnIn(card), STEPS[key]);
    else return;
    event.preventDefault();
  });
}
