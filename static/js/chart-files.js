// A chart as a picture, with its title and what its lines are, on the page's own background.
import { style } from "./chart-style.js";

const MARGIN = 12;
const LINE = 18; // height of a line of text

export async function savePng(drawn, card) {
  const chart = drawn.root.querySelector("canvas");
  const pixel = devicePixelRatio;
  const title = card.querySelector("h3").textContent;
  const entries = drawn.legend();
  const picture = document.createElement("canvas");
  picture.width = chart.width + 2 * MARGIN * pixel;
  picture.height = chart.height + (2 * MARGIN + LINE * (1.5 + entries.length)) * pixel;
  const context = picture.getContext("2d");
  context.scale(pixel, pixel);
  context.fillStyle = style("--ty-surface");
  context.fillRect(0, 0, picture.width, picture.height);
  const font = style("--tblr-font-sans-serif") || "sans-serif";
  context.fillStyle = style("--ty-text");
  context.font = `600 14px ${font}`;
  context.fillText(title, MARGIN, MARGIN + 12);
  context.drawImage(chart, MARGIN, MARGIN + LINE * 1.5, chart.width / pixel, chart.height / pixel);
  context.font = `12px ${font}`;
  entries.forEach(({ label, colour, dashes }, index) => {
    const y = MARGIN + LINE * (2 + index) + chart.height / pixel;
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(MARGIN, y - 4);
    context.lineTo(MARGIN + 28, y - 4);
    context.stroke();
    context.fillText(label, MARGIN + 36, y);
  });
  const blob = await new Promise((resolve) => picture.toBlob(resolve, "image/png"));
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${card.dataset.name.replaceAll("/", "-")}.png` });
  link.click();
  URL.revokeObjectURL(link.href);
}
