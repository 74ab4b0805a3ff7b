// What is drawn over a chart: where its numbers are not finite, and where runs begin and checkpoints were saved.
import { style } from "./chart-style.js";

// What a number that is not finite is, at this place of the x axis.
export const markAt = (chart, x) => chart.marks.find(([at]) => at === x)?.[1];

// Marks at neighboring points as one stretch: [from, to, what the number is there].
function stretches(plot, marks) {
  const places = new Map(plot.data[0].map((x, index) => [x, index]));
  const found = [];
  for (const [at, name] of marks) {
    const last = found.at(-1);
    if (last && last[2] === name && places.get(last[1]) + 1 === places.get(at)) last[1] = at;
    else found.push([at, at, name]);
  }
  return found;
}

// Everything stays within the plot, and the context is afterwards as it was.
function within(plot, draw) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * devicePixelRatio}px ${style("--tblr-font-sans-serif") || "sans-serif"}`;
  draw(ctx, bbox, devicePixelRatio);
  ctx.restore();
}

function upright(ctx, bbox, x) {
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
}

// Next to a line, or before it where the plot ends.
function label(ctx, bbox, pixel, text, x, top) {
  const isAtEnd = x + ctx.measureText(text).width + 8 * pixel > bbox.left + bbox.width;
  ctx.textAlign = isAtEnd ? "right" : "left";
  ctx.fillText(text, x + (isAtEnd ? -4 : 4) * pixel, bbox.top + top * pixel);
}

// Whether a label would not be on top of the one before it.
function labelPlace(ctx, pixel) {
  let last = -Infinity;
  return {
    isFree(text, x) {
      if (Math.abs(x - last) < ctx.measureText(text).width + 8 * pixel) return false;
      last = x;
      return true;
    },
  };
}

// A shade where numbers are not finite, between dashed lines, with what they are.
export function drawMarks(plot, marks) {
  within(plot, (ctx, bbox, pixel) => {
    ctx.strokeStyle = ctx.fillStyle = style("--ty-danger");
    ctx.setLineDash([3 * pixel, 3 * pixel]);
    const place = labelPlace(ctx, pixel);
    for (const [from, to, name] of stretches(plot, marks)) {
      const [left, right] = [from, to].map((at) => plot.valToPos(at, "x", true));
      ctx.globalAlpha = 0.1;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.globalAlpha = 1;
      ctx.beginPath();
      for (const x of [left, right]) upright(ctx, bbox, x);
      ctx.stroke();
      if (place.isFree(name, left)) label(ctx, bbox, pixel, name, left, 12);
    }
  });
}

const TRIANGLE = 5; // pixels, half of its side

// Where a run or an attempt begins, and where a checkpoint was saved.
export function drawMarkers(plot, markers) {
  within(plot, (ctx, bbox, pixel) => {
    ctx.strokeStyle = ctx.fillStyle = style("--ty-text-soft");
    const bottom = bbox.top + bbox.height;
    const place = labelPlace(ctx, pixel);
    for (const { kind, x, label: text } of markers) {
      const at = plot.valToPos(x, "x", true);
      ctx.beginPath();
      if (kind === "checkpoint") {
        ctx.moveTo(at, bottom - 2 * TRIANGLE * pixel);
        ctx.lineTo(at - TRIANGLE * pixel, bottom);
        ctx.lineTo(at + TRIANGLE * pixel, bottom);
        ctx.fill();
        continue;
      }
      ctx.setLineDash([6 * pixel, 4 * pixel]);
      upright(ctx, bbox, at);
      ctx.stroke();
      if (place.isFree(text, at)) label(ctx, bbox, pixel, text, at, bbox.height / pixel - 14);
    }
  });
}

// The same in words, for those who do not see them.
export function describeMarkers(markers) {
  const starts = markers.filter(({ kind }) => kind === "start").map(({ text }) => `┆ ${text}`);
  const saved = markers.filter(({ kind }) => kind === "checkpoint").map(({ text }) => text);
  const checkpoints = saved.length ? [`▲ checkpoint${saved.length === 1 ? "" : "s"} at step ${saved.join(", ")}`] : [];
  return [...starts, ...checkpoints].join(" · ");
}
