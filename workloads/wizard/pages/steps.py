"""Show the progress of a draft: the steps of the rail, and the open problems."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.urls import reverse

from core.forms.field import Input
from spec.problems.errors import Path
from spec.workload import Architecture
from workloads.models import Draft
from workloads.plan import Plan
from workloads.wizard.locations import find_item_index
from workloads.wizard.pages.problems import (
    LocatedProblem,
    is_verdict,
    locate_problems,
    problem_sentence,
)
from workloads.wizard.sections import table
from workloads.wizard.sections.base import PAGES, SETUP, WORKERS, Question


@dataclass(frozen=True)
class Step:
    """A step of the rail. ``errors`` counts the problems that its fields show. Only the first step
    is reachable until a project is chosen."""

    number: int
    label: str
    errors: int
    is_done: bool
    is_current: bool
    is_reachable: bool


@dataclass(frozen=True)
class OpenProblem:
    """A problem for the summary. ``is_shown`` means that its field shows it, too. ``address``
    points to that field."""

    question: Question
    text: str
    address: str
    is_shown: bool


def rail_steps(
    draft: Draft, plan: Plan, page: int, located: Iterable[LocatedProblem]
) -> Iterator[Step]:
    touched = set(draft.touched)
    has_project = plan.project is not None
    labels = {SETUP: "Setup", WORKERS: workers_label(plan)}
    invalid_questions = [question for question, _ in located]
    for number in PAGES:
        invalid_here = [question for question in invalid_questions if question.page == number]
        was_visited = number <= draft.step if number != SETUP else bool(touched)
        yield Step(
            number=number,
            label=labels.get(number, last_label(plan)),
            errors=sum(question.name in touched for question in invalid_here),
            is_done=was_visited and not invalid_here and has_project,
            is_current=number == page,
            is_reachable=number == SETUP or has_project,
        )


def workers_label(plan: Plan) -> str:
    if plan.draft.has_roles:
        return "Roles"
    return "Workers" if plan.draft.is_gang else plan.draft.traits.noun.capitalize()


def last_label(plan: Plan) -> str:
    return "Master" if has_master(plan) else "Review"


def has_master(plan: Plan) -> bool:
    is_usual = plan.draft.is_gang and not plan.draft.has_roles
    return is_usual and plan.draft.architecture != Architecture.WORKERS_ONLY


def open_problems(
    draft: Draft, plan: Plan, page: int, located: Iterable[LocatedProblem]
) -> tuple[list[OpenProblem], list[OpenProblem]]:
    """Return the problems to fix now, and those of later pages.

    The first list has every problem of this page and of earlier pages, and all problems that their
    fields show already. The second has one problem for each question of later pages. If the
    summary's verdict already states a problem, the list has only the label of its field.
    """
    order = {name: number for number, name in enumerate(table.questions())}
    opened = []
    for question, problem in sorted(located, key=lambda pair: order[pair[0].name]):
        text = question.label if is_verdict(problem) else problem_sentence(question, problem)
        index = find_item_index(problem, question, plan)
        address = problem_address(draft, page, question, problem.path, index)
        is_shown = question.name in draft.touched
        opened.append(OpenProblem(question, text, address, is_shown))
    now = [problem for problem in opened if problem.is_shown or problem.question.page <= page]
    later = {problem.question.name: problem for problem in opened if problem not in now}
    return now, list(later.values())


def all_problems(draft: Draft, plan: Plan) -> list[OpenProblem]:
    """Return every problem as a sentence, for a page without the fields."""
    opened = []
    for question, problem in locate_problems(plan):
        text = problem_sentence(question, problem)
        index = find_item_index(problem, question, plan)
        address = problem_address(draft, 0, question, problem.path, index)
        opened.append(OpenProblem(question, text, address, is_shown=True))
    return opened


def problem_address(
    draft: Draft, page: int, question: Question, path: Path, number: int | None
) -> str:
    """Return the address of the input to correct, for a link on ``page``. ``number`` is the index
    of the item in a list."""
    other_page = "" if question.page == page else page_address(draft, question.page)
    cell = question.cell_of(path) if number is not None else None
    if cell and question.input is Input.ITEMS:
        return f"{other_page}#{question.name}-{number}-{cell.slug}"
    return f"{other_page}#{question.name}"


def page_address(draft: Draft, page: int) -> str:
    """Return the URL of a page of the draft."""
    return reverse("draft-step", args=[draft.pk, page])
