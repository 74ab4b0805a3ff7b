"""Find where the page shows a problem of a plan: its question, and the item within a list."""

from core.forms.field import Input
from core.forms.read import field_items
from spec.draft import Values, is_blank
from spec.formats.merge import position_in_layer
from spec.formats.stored import value_at
from spec.problems.errors import Path, Problem
from workloads.plan import Plan
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.table import questions

#: Paths of problems that are not below a question's path, and the question that shows them.
QUESTIONS_BY_PATH: dict[Path, str] = {("distributedFramework",): "framework"}


def locate_problem(problem: Problem, document: Values | None = None) -> Question:
    """Return the question that shows a problem. A problem in a value that only assets have is shown
    where the asset is chosen.

    ``document`` is the document of the plan. If several questions share a list, it tells which of
    them has the item.
    """
    path = problem.path
    by_name = questions()
    # The question with the longest path that leads to the problem.
    for length in range(len(path), 0, -1):
        candidates = [question for question in by_name.values() if question.path == path[:length]]
        if candidates:
            item = value_at(document or {}, path[: length + 1])
            sharing = (question for question in candidates if question.includes(item))
            return next(sharing, candidates[0])
    name = QUESTIONS_BY_PATH.get(path[:1])
    if name:
        return by_name[name]
    for question in by_name.values():
        if path and question.path[: len(path)] == path:
            return question
    for question in by_name.values():
        if question.input is Input.CARDS and path[:1] == (question.role,):
            return question
    return by_name["name"]


def find_item_index(problem: Problem, question: Question, plan: Plan) -> int | None:
    """Return the index, among the items on the page, of the item that a problem is about; ``None``
    if it is about the question as a whole."""
    steps = problem.path[len(question.path) :]
    values = question.values_in(plan.draft)
    if not question.is_list or not steps or values is None:
        return None
    page_items = field_items(values, question)
    if question.single:
        return 0 if page_items else None
    items = value_at(plan.document, question.path)
    if items is None:  # the plan has checked the items as they were filled in
        items = [item for item in page_items if not is_blank(item)]
    index = steps[0]
    if not isinstance(items, list) or not isinstance(index, int):
        return None
    return position_in_layer(page_items, items, index)
