"""Problems of a plan as sentences below a field."""

from collections.abc import Iterator

from spec.errors import Problem
from spec.workload import MAX_GRACE_SECONDS
from workloads.forms.fields import locate
from workloads.forms.kinds import Field, Kind
from workloads.plan import Plan

ABOUT_THE_FIELD = ("is ", "must ", "has ", "needs ")
ABOUT_THE_CELL = ("goes ",)
ABOUT_THE_WORKLOAD = ("asks ", "can ")
LEAST_BACKOFF = 1  # an API caller may ask for none; the form's range is Run:ai's

#: What the value of a variable names, where it is none itself.
HOLDERS = {"secret": "The Secret", "configMap": "The ConfigMap", "podFieldRef": "The pod field"}

#: Where the wizard asks by choice, "is required" says too little.
CHOOSE = {"image": "select an environment"}


def problems(made: Plan) -> Iterator[tuple[Field, Problem]]:
    """Everything wrong with a plan, at the field that shows it."""
    for problem in made.problems:
        yield locate(problem, made.document), problem
    if made.draft.given.get("backoffLimit") == 0:
        problem = Problem(("backoffLimit",), f"must be at least {LEAST_BACKOFF}")
        yield locate(problem), problem


def sentence(field: Field, problem: Problem) -> str:
    """``Number of workers must be at least 1.``"""
    message = problem.message
    if message == "is required" and problem.path[-1] in CHOOSE:
        message = CHOOSE[str(problem.path[-1])]
    if field.kind is Kind.DURATION:
        message = _with_unit(message)
    if message.startswith((*ABOUT_THE_FIELD, *(ABOUT_THE_CELL if field.cells else ()))):
        message = f"{_subject(field, problem)} {message}"
    elif message.startswith(ABOUT_THE_WORKLOAD):
        message = f"The workload {message}"
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."


def _subject(field: Field, problem: Problem) -> str:
    """The field, or the column of its row: ``Variable name``, ``Claim size``."""
    if cell := field.cell_of(problem.path):
        return cell.label if len(problem.path) > len(field.path) else field.label
    if field.kind is not Kind.ROWS:
        return field.label
    last = problem.path[-1]
    if (holder := HOLDERS.get(str(problem.path[-2]))) and last in {"name", "path"}:
        return holder
    if last == "key":
        return "The key"
    return f"The {last}" if isinstance(last, str) and last in {"name", "value"} else field.label


def _with_unit(message: str) -> str:
    if message == "must be a whole number":
        return "must be a whole number of seconds, such as 30 sec or 5 min"
    if message.endswith(str(MAX_GRACE_SECONDS)):
        return f"{message} seconds (5 min)"
    return f"{message} seconds" if message[-1:].isdigit() else message
