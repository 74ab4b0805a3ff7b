// A workload as YAML, a batch script or a workflow: a dropped or chosen file goes into the text, a wrong line can be jumped to.
// Files dropped on a page with input[data-drop] are sent as they are, several at once.
const area = document.querySelector(".yaml-text");
const file = document.querySelector(".yaml-file input");
const several = document.querySelector("input[data-drop]");
const status = document.getElementById("status");

const fileName = document.querySelector("input[name=file_name]");

// Show the text of a file. One that is no UTF-8 is sent as it is, so that the answer names its line.
async function take(files) {
  const [chosen] = files;
  const bytes = await chosen.arrayBuffer();
  if (fileName) fileName.value = chosen.name;
  try {
    area.value = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    file.files = files;
    status.textContent = `${chosen.name} is not a text in UTF-8.`;
    return;
  }
  file.value = ""; // the text may be changed from here on, and is what is sent
  area.setSelectionRange(0, 0);
  area.focus();
  status.textContent = `${chosen.name} was read. ${area.dataset.next ?? "Apply fills in the form."}`;
}

file?.addEventListener("change", async () => {
  if (!file.files.length) return;
  await take(file.files);
});

for (const kind of ["dragenter", "dragover"]) {
  area.addEventListener(kind, (event) => {
    if (!event.dataTransfer.types.includes("Files")) return; // dragged text does as always
    event.preventDefault();
    area.classList.add("is-target");
  });
}
for (const kind of ["dragleave", "drop"]) area.addEventListener(kind, () => area.classList.remove("is-target"));
area.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  if (several) {
    several.files = event.dataTransfer.files;
    status.textContent = `${several.files.length} files were chosen. ${area.dataset.next}`;
  } else take(event.dataTransfer.files);
});

function select(line) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const height = Number.parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = (line - 4) * height;
}
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-line]");
  if (!link) return;
  event.preventDefault();
  select(Number(link.dataset.line));
});
if (Number(area.dataset.bad)) select(Number(area.dataset.bad));
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-reads]")) event.target.form.requestSubmit();
});
