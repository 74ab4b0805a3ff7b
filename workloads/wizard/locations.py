"""Find where the page shows a problem of a plan: its question, and the item within a list."""

from typing import Any

from core.forms.field import Input
from core.forms.read import field_items
from spec.draft import Values, is_blank
from spec.formats.merge import position_in_layer
from spec.problems.errors import Path, Problem
from workloads.plan import Plan
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.table import questions

#: Paths of problems that are not below a question's path, and the question that shows them.
QUESTIONS_BY_PATH: dict[Path, str] = {("distributedFramework",): "framework"}


def locate_problem(problem: Problem, document: Values | None = None) -> Question:
    """The question that shows a problem. One in a value that only assets have is shown where the
    asset is chosen.

    ``document`` is the plan's. If several questions share a list, it tells which of them has the
    item.
    """
    path = problem.path
    asked = questions()
    for length in range(len(path), 0, -1):
        if its := [question for question in asked.values() if question.path == path[:length]]:
            item = _value_at(document or {}, path[: length + 1])
            return next((question for question in its if question.includes(item)), its[0])
    if name := QUESTIONS_BY_PATH.get(path[:1]):
        return asked[name]
    parts = (question for question in asked.values() if path and question.path[: len(path)] == path)
    choices = (it for it in asked.values() if it.input is Input.CARDS and path[:1] == (it.role,))
    return next(parts, next(choices, asked["name"]))


def find_item_index(problem: Problem, question: Question, plan: Plan) -> int | None:
    """Index of the item that a problem is about; ``None`` if it is about the question as a
    whole."""
    steps = problem.path[len(question.path) :]
    values = question.values_in(plan.draft)
    if not question.is_list or not steps or values is None:
        return None
    own = field_items(values, question)
    at = steps[0]
    if question.single:
        return 0 if own else None
    items = _value_at(plan.document, question.path)
    if items is None:  # the plan judged the items as they were filled in
        items = [item for item in own if not is_blank(item)]
    if not isinstance(items, list) or not isinstance(at, int):
        return None
    return position_in_layer(own, items, at)


def _value_at(document: Values, path: Path) -> Any:
    value: Any = document
    for step in path:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value
