"""What was written down under other rules: what is wrong with it now, and what can be read of it.

A rule that is tightened must not take a page down. Whoever shows a stored document says what is
wrong with it; whoever uses it refuses it with the same words.
"""

import copy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from spec.problems.errors import Path, problems

M = TypeVar("M", bound=BaseModel)
ROUNDS = 20  # of taking away what is wrong; what then is left is wrong as a whole


def fault_of(model: type[BaseModel], document: Any) -> str:
    """What is wrong with a stored document, in words; empty where nothing is."""
    try:
        model.model_validate(document)
    except ValidationError as error:
        return "; ".join(f"{it.field} {it.message}".strip() for it in problems(error))
    return ""


def readable(model: type[M], document: Any) -> M:
    """The document without what is wrong in it, for a model whose fields all have a default."""
    left = copy.deepcopy(document)
    for _ in range(ROUNDS):
        try:
            return model.model_validate(left)
        except ValidationError as error:
            for item in reversed(error.errors(include_url=False, include_input=False)):
                _take(left, item["loc"])
    return model()


def mapping(document: Any) -> dict[str, Any]:
    """The document, or an empty one where it is none."""
    return document if isinstance(document, dict) else {}


def without_strays(model: type[BaseModel], document: Any) -> Any:
    """The document without the fields that there are no more, for a form that shows the others."""
    left = copy.deepcopy(document)
    try:
        model.model_validate(left)
    except ValidationError as error:
        for item in reversed(error.errors(include_url=False, include_input=False)):
            if item["type"] == "extra_forbidden":
                _take(left, item["loc"])
    return left


def _take(document: Any, path: Path) -> None:
    """Away with what is at ``path``, or with the deepest part of the way there that exists."""
    holder, last = None, None
    for step in path:
        inside = isinstance(document, dict) and step in document
        inside = inside or (
            isinstance(document, list) and isinstance(step, int) and step < len(document)
        )
        if not inside:
            break
        holder, last, document = document, step, document[step]
    if holder is not None:
        del holder[last]
