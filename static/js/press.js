// A press counts, also where the page moves or is drawn anew under it: browsers click only what was
// there, in the same place, from the first moment to the last. What is drawn anew is known by its
// address; a button of a list may mean another row by then, so it has to be the same one.
const PRESSED = "a[href], button, summary";
const STILL = 4; // pixels that a hand that holds still may move
let press = null;

document.addEventListener("pointerdown", (event) => {
  const target = event.button === 0 && event.isPrimary && event.target.closest?.(PRESSED);
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  press = target && plain ? { target, x: event.clientX, y: event.clientY } : null;
}, true);
document.addEventListener("pointercancel", () => (press = null), true);
document.addEventListener("click", ({ target }) => {
  if (press?.target.contains(target)) press = null;
}, true);
document.addEventListener("pointerup", (event) => {
  const now = press;
  if (!now || Math.hypot(event.clientX - now.x, event.clientY - now.y) > STILL) return;
  setTimeout(() => { // after the click, if there is one
    if (press === now) (now.target.isConnected ? now.target : again(now.target))?.click();
    if (press === now) press = null;
  });
}, true);

function again(lost) {
  const [address, words] = [lost.getAttribute("href"), lost.textContent.trim()];
  if (!address) return null;
  const alike = document.querySelectorAll(`a[href="${CSS.escape(address)}"]`);
  return [...alike].find((link) => link.textContent.trim() === words);
}
