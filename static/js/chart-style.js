// Colors and dashes of lines in charts, which the style sheet has. Lines that are compared differ by both.
const COLOURS = 8;

export const style = (name, element = document.documentElement) => getComputedStyle(element).getPropertyValue(name).trim();

function ofLine(number, name) {
  const probe = document.createElement("i");
  probe.className = `rank-${number % COLOURS}`;
  document.body.append(probe);
  const value = style(name, probe);
  probe.remove();
  return value;
}

export const rankColour = (number) => ofLine(number, "--rank");
export const dash = (number) => ofLine(number, "--dash").split(" ").filter(Boolean).map(Number);

// Canvases take a color with an alpha in hexadecimal; styles may give it in any form.
export function hex(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  return context.fillStyle;
}
