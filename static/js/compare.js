// The page that compares runs: its charts, and the link to what they show.
import "./metrics.js";

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-copy=compare-link]")) document.getElementById("compare-link").textContent = location.href;
}, true); // before page.js copies it
