// The summary of the wizard on narrow screens: a sheet over the page, which a bar at the foot opens.
const side = document.getElementById("wizard-side");

// The cursor goes into the sheet, and back to the bar; the bar itself comes anew with each change of the draft.
function open(wanted) {
  side.toggleAttribute("data-open", wanted);
  const next = wanted ? side.querySelector(".side-close") : document.querySelector("#wizard-bar [data-side-toggle]");
  next.focus();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-side-toggle]")) return;
  event.preventDefault(); // without this script it is a link to the summary
  open(!side.hasAttribute("data-open"));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && side.hasAttribute("data-open") && !document.querySelector("dialog:modal")) open(false);
});
