// Switches of the log's bar that this tab of the browser remembers: a class of the view each.
function option(box, view, name, key) {
  if (!box) return;
  const stored = sessionStorage.getItem(key);
  if (stored) box.checked = stored === "yes";
  const apply = () => view.classList.toggle(name, box.checked);
  box.addEventListener("change", (event) => {
    event.stopPropagation(); // the form around it would ask the server again
    sessionStorage.setItem(key, box.checked ? "yes" : "no");
    apply();
  });
  apply();
}

export function options(section, view) {
  option(section.querySelector("[data-log-wrap]"), view, "wraps-lines", "log-wrap");
  option(section.querySelector("[data-log-times]"), view, "show-times", "log-times");
}
