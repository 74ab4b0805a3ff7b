// A pasted text of several lines, such as a private key, keeps its line breaks: a single-line input would drop
// them, so it becomes a text area.
const OWN = ["type", "value", "list", "data-lines", "data-suggest"];

document.addEventListener("paste", (event) => {
  const input = event.target.closest?.("input[data-lines]");
  const text = event.clipboardData?.getData("text").replaceAll("\r\n", "\n") ?? "";
  if (!input || !text.includes("\n")) return;
  event.preventDefault();
  const area = document.createElement("textarea");
  for (const { name, value } of input.attributes) {
    if (!OWN.includes(name)) area.setAttribute(name, value);
  }
  area.rows = 3;
  area.value = input.value.slice(0, input.selectionStart) + text + input.value.slice(input.selectionEnd);
  input.replaceWith(area);
  area.focus();
  for (const kind of ["input", "change"]) area.dispatchEvent(new Event(kind, { bubbles: true }));
});
