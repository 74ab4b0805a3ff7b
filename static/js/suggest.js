// Names to choose from while someone types in an input with data-suggest; the browser shows them.
const PAUSE_MS = 200;
let waiting = null;

async function ask(input) {
  const who = input.closest(".item")?.querySelector("select[name$=-access]");
  const query = new URLSearchParams({ text: input.value, of: who?.value ?? "" });
  const answer = await fetch(`${input.dataset.suggest}?${query}`);
  if (answer.ok && input.isConnected) input.list.innerHTML = await answer.text();
}

for (const kind of ["input", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    if (!target.matches?.("[data-suggest]")) return;
    clearTimeout(waiting);
    waiting = setTimeout(ask, kind === "input" ? PAUSE_MS : 0, target);
  });
}
