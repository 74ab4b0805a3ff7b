"""Read documents that were stored under earlier rules.

A stricter rule must not break a page. Code that shows a stored document says what is wrong with it;
code that uses it refuses it with the same words.
"""

import copy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from spec.problems.errors import Path, problems_in

M = TypeVar("M", bound=BaseModel)
ROUNDS = 20  # of removing faults; if some remain then, the whole document is unreadable


def document_fault(model: type[BaseModel], document: Any) -> str:
    """What is wrong with a stored document, in words; empty if nothing is."""
    try:
        model.model_validate(document)
    except ValidationError as error:
        return "; ".join(f"{it.field} {it.message}".strip() for it in problems_in(error))
    return ""


def drop_invalid_parts(model: type[M], document: Any) -> M:
    """The document without invalid parts, for a model whose fields all have defaults."""
    left = copy.deepcopy(document)
    for _ in range(ROUNDS):
        try:
            return model.model_validate(left)
        except ValidationError as error:
            for item in reversed(error.errors(include_url=False, include_input=False)):
                _remove(left, item["loc"])
    return model()


def as_mapping(document: Any) -> dict[str, Any]:
    """The document if it is a mapping, else an empty one."""
    return document if isinstance(document, dict) else {}


def value_at(document: Any, path: Path) -> Any:
    """The value at a path; ``None`` if it or a parent is missing."""
    value = document
    for step in path:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def drop_unknown_fields(model: type[BaseModel], document: Any) -> Any:
    """The document without unknown fields, for a form that shows the others."""
    left = copy.deepcopy(document)
    try:
        model.model_validate(left)
    except ValidationError as error:
        for item in reversed(error.errors(include_url=False, include_input=False)):
            if item["type"] == "extra_forbidden":
                _remove(left, item["loc"])
    return left


def _remove(document: Any, path: Path) -> None:
    """Remove the value at ``path``, or its deepest existing parent."""
    holder = None
    last = None
    for step in path:
        inside = isinstance(document, dict) and step in document
        inside = inside or (
            isinstance(document, list) and isinstance(step, int) and step < len(document)
        )
        if not inside:
            break
        holder = document
        last = step
        document = document[step]
    if holder is not None:
        del holder[last]
