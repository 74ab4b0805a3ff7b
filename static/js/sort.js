// Ordered lists of the wizard: items are dragged by their grip. The buttons beside it do the same.
const wizard = document.getElementById("wizard");

function sortable(list) {
  if (list.dataset.sorts) return;
  list.dataset.sorts = "yes";
  const before = [...list.querySelectorAll(".item")];
  Sortable.create(list, {
    handle: ".item-grip",
    draggable: ".item",
    ghostClass: "is-dragged",
    animation: 120,
    onEnd: () => {
      const order = [...list.querySelectorAll(".item")].map((item) => before.indexOf(item));
      if (order.every((was, at) => was === at)) return;
      htmx.ajax("POST", wizard.dataset.save, {
        source: list, target: list, swap: "outerHTML", values: { action: `sort:${list.dataset.list}:${order}` },
      });
    },
  });
}

const all = () => wizard.querySelectorAll("[data-ordered]").forEach(sortable);
document.body.addEventListener("htmx:afterSettle", all);
all();
