"""Turn the problems of a plan into sentences below its questions."""

from collections.abc import Iterator

from assets.data_source import files
from assets.kinds import KINDS, pod_kinds
from core.forms import nested, words
from core.forms.field import Input
from policies.roles import ROLES
from spec.problems.errors import WORDS, Problem, path_text
from spec.workload import MAX_GRACE_SECONDS
from workloads.plan import Plan
from workloads.wizard.locations import locate_problem
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.resources.requests import PARTS
from workloads.wizard.sections.table import questions

LocatedProblem = tuple[Question, Problem]
ABOUT_THE_CELL = ("goes ",)
ABOUT_THE_WORKLOAD = ("asks ", "can ")
NEVER_STARTS = ("asks for", "can never")

#: What a variable's value refers to if it is not the value itself, by its source.
VALUE_SOURCES = {
    "secret": "The Secret",
    "configMap": "The ConfigMap",
    "podFieldRef": "The pod field",
    "credential": "The credential",
}

#: Conditions in messages of the spec, and the label of that choice on the page.
CHOICE_LABELS = {
    f"gpuRequestType {kind}": f"“{label}” as the part of a GPU" for kind, label in PARTS
}
#: Instead of "is required", for fields that are filled in by choosing something.
CHOOSE_INSTEAD = {"image": "select an environment"}
#: Fields that are lists in the document and a text on the page, with the way to write them.
HOW_TO_WRITE = {"files": files.FORMAT_HINT}


def locate_problems(plan: Plan) -> Iterator[LocatedProblem]:
    """Yield every problem of a plan, with the question that shows it."""
    for problem in plan.problems:
        question = locate_problem(problem, plan.document)
        yield _asset_question(question, plan) or question, problem


def _asset_question(question: Question, plan: Plan) -> Question | None:
    """Return the question that chooses an asset, if the bad value comes from that asset or can only
    come from one; else ``None``."""
    values = question.values_in(plan.draft)
    if not question.role or question.is_list or values is None or question.input is Input.CARDS:
        return None
    if nested.get(values, question.key) not in nested.EMPTY:
        return None
    for (role, slug), asset in plan.assets.items():
        asset_value = nested.get(KINDS[slug].layer(asset), question.key)
        if role == question.role and asset_value not in nested.EMPTY:
            return questions()[f"{role}-{slug}"]
    gives = (kind.slug for kind in pod_kinds() if question.key in kind.replaced_keys)
    return next((questions()[f"{question.role}-{slug}"] for slug in gives), None)


def is_verdict(problem: Problem) -> bool:
    """Return whether the problem says that the workload can never start in its cluster."""
    return problem.message.startswith(NEVER_STARTS)


def problem_sentence(question: Question, problem: Problem) -> str:
    """Return the problem as a sentence, such as ``Number of workers must be at least 1.``"""
    message = problem.message
    if question.path == (ROLES,) and len(problem.path) > 1:
        return f"{path_text(problem.path)}: {message}."  # where it is in the YAML text
    if message == "is required" and problem.path[-1] in CHOOSE_INSTEAD:
        message = CHOOSE_INSTEAD[str(problem.path[-1])]
    if message == WORDS["tuple_type"] and problem.path[-1] in HOW_TO_WRITE:
        return HOW_TO_WRITE[str(problem.path[-1])]
    for wire, label in CHOICE_LABELS.items():
        message = message.replace(wire, label)
    if question.input is Input.DURATION:
        message = _with_unit(message)
    if message.startswith(ABOUT_THE_WORKLOAD):
        return words.field_sentence(f"The workload {message}")
    about = ABOUT_THE_CELL if question.input is Input.ITEMS else ()
    return words.field_sentence(message, _sentence_subject(question, problem), more=about)


def _sentence_subject(question: Question, problem: Problem) -> str:
    """Return the subject of the sentence: the field's label, or a part of a row such as
    ``The key``."""
    if question.input is Input.CARDS and problem.path != question.path:
        field = locate_problem(problem)
        return (
            question.label
            if field == question
            else f"{field.label} of the {question.label.lower()}"
        )
    if len(problem.path) <= len(question.path):
        return question.label
    if question.input is not Input.ROWS:
        cell = question.cell_of(problem.path)
        return cell.label if cell else question.label
    last = problem.path[-1]
    source = VALUE_SOURCES.get(str(problem.path[-2]))
    if source and last in {"name", "path"}:
        return source
    if last in {"key", "name", "value"}:
        return f"The {last}"
    return question.label


def _with_unit(message: str) -> str:
    if message == "must be a whole number":
        return "must be a whole number of seconds, such as 30 sec or 5 min"
    if message.endswith(str(MAX_GRACE_SECONDS)):
        return f"{message} seconds (5 min)"
    return f"{message} seconds" if message[-1:].isdigit() else message
