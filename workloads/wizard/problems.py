"""Problems of a plan as sentences below a question."""

from collections.abc import Iterator

from core.forms import words
from core.forms.field import Input
from spec.errors import Problem
from spec.workload import MAX_GRACE_SECONDS
from workloads.plan import Plan
from workloads.wizard.places import locate
from workloads.wizard.sections.base import Question

Located = tuple[Question, Problem]
ABOUT_THE_CELL = ("goes ",)
ABOUT_THE_WORKLOAD = ("asks ", "can ")

#: What the value of a variable names, where it is none itself.
HOLDERS = {"secret": "The Secret", "configMap": "The ConfigMap", "podFieldRef": "The pod field"}

#: Where the wizard asks by choice, "is required" says too little.
CHOOSE = {"image": "select an environment"}


def problems(plan: Plan) -> Iterator[Located]:
    """Everything wrong with a plan, at the field that shows it."""
    for problem in plan.problems:
        yield locate(problem, plan.document), problem


def sentence(question: Question, problem: Problem) -> str:
    """``Number of workers must be at least 1.``"""
    message = problem.message
    if message == "is required" and problem.path[-1] in CHOOSE:
        message = CHOOSE[str(problem.path[-1])]
    if question.input is Input.DURATION:
        message = _with_unit(message)
    if message.startswith(ABOUT_THE_WORKLOAD):
        return words.sentence(f"The workload {message}")
    about = ABOUT_THE_CELL if question.input is Input.ITEMS else ()
    return words.sentence(message, _subject(question, problem), more=about)


def _subject(question: Question, problem: Problem) -> str:
    """The field, or the column of its row: ``Variable name``, ``Claim size``."""
    if question.input is not Input.ROWS:
        cell = question.cell_of(problem.path)
        return cell.label if cell and len(problem.path) > len(question.path) else question.label
    last = problem.path[-1]
    if (holder := HOLDERS.get(str(problem.path[-2]))) and last in {"name", "path"}:
        return holder
    if last == "key":
        return "The key"
    return f"The {last}" if isinstance(last, str) and last in {"name", "value"} else question.label


def _with_unit(message: str) -> str:
    if message == "must be a whole number":
        return "must be a whole number of seconds, such as 30 sec or 5 min"
    if message.endswith(str(MAX_GRACE_SECONDS)):
        return f"{message} seconds (5 min)"
    return f"{message} seconds" if message[-1:].isdigit() else message
