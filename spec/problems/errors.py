"""Problems of a draft, addressed to fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from spec.values.patterns import RULES

Path = tuple[str | int, ...]

# Replacements for messages of pydantic that are hard to understand.
WHOLE = "must be a whole number"
NUMBER = "must be a number"
FLAG = "must be true or false"
AN_ID = "must be an ID (a UUID)"
AN_OBJECT = "must be an object"
A_LIST = "must be a list"
A_TIME = "must be a time in ISO 8601, such as 2026-01-31T00:00:00Z"
WORDS = {
    "missing": "is required",
    "too_short": "is required",
    "extra_forbidden": "is not a known field",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_parsing_size": "must be a smaller whole number",
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": NUMBER,
    "bool_type": FLAG,
    "bool_parsing": FLAG,
    "string_type": "must be text",
    "tuple_type": A_LIST,
    "list_type": A_LIST,
    "dict_type": AN_OBJECT,
    "model_type": AN_OBJECT,
    "model_attributes_type": AN_OBJECT,
    "uuid_type": AN_ID,
    "uuid_parsing": AN_ID,
    "datetime_type": A_TIME,
    "datetime_parsing": A_TIME,
    "datetime_from_date_parsing": A_TIME,
    "datetime_object_invalid": A_TIME,
    "timezone_aware": "must have a time zone, such as Z",
    "none_required": "must be null",
}
TAKEN = "unique"  # the rule that a taken name breaks
#: pydantic's kind of error → Run:ai's word for the broken rule.
BROKEN_RULES = {
    "missing": "required",
    "too_short": "required",
    "string_too_short": "required",
    "greater_than": "min",
    "greater_than_equal": "min",
    "less_than": "max",
    "less_than_equal": "max",
    "string_too_long": "max",
    "too_long": "max",
    "enum": "options",
    "literal_error": "options",
    "multiple_of": "step",
    "extra_forbidden": "unknown",
    "string_pattern_mismatch": "format",
}


@dataclass(frozen=True)
class Problem:
    """Something to correct. ``path`` has the wire names, such as ``("worker", "image")``. If it
    breaks somebody's ``rule`` (``locked``), ``source`` says whose: ``template base``."""

    path: Path
    message: str
    rule: str = field(default="", compare=False)
    source: str = ""

    @property
    def field(self) -> str:
        return ".".join(str(step) for step in self.path)


def parse_path(place: str) -> Path:
    """Parse ``worker.connections[0].name`` into a path."""
    steps = re.findall(r"[^.\[\]]+", place)
    return tuple(int(step) if step.isdigit() else step for step in steps)


def path_text(path: Path) -> str:
    """The inverse of :func:`path_of`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".")


class SpecError(ValueError):
    """A draft that cannot become a WorkloadSpec; carries every problem at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.field}: {p.message}" for p in self.problems))


def problems_in(error: ValidationError, *, within: Path = ()) -> tuple[Problem, ...]:
    """The problems in a pydantic error, with paths below ``within``."""
    return tuple(
        problem_from_pydantic(
            item["type"], (*within, *item["loc"]), item["msg"], item.get("ctx", {})
        )
        for item in error.errors(include_url=False)
    )


def problem_from_pydantic(
    kind: str, path: Path, message: str, context: Mapping[str, object]
) -> Problem:
    """Convert one of pydantic's errors into a problem in our words.

    A validator of several fields raises ``ValueError("field: message")``; the field is added to the
    path.
    """
    if kind == "value_error":
        message = str(context["error"])
        field, colon, rest = message.partition(": ")
        if colon and field.replace("_", "").isalnum() and " " not in field:
            path = (*path, _camel(field))
            message = rest
        return Problem(path, message, "required" if message.startswith("is required") else "")
    unit = "characters" if context.get("field_type") == "Value" else "items"
    limits = {
        "greater_than_equal": f"must be at least {context.get('ge')}",
        "greater_than": f"must be more than {context.get('gt')}",
        "less_than_equal": f"must be at most {context.get('le')}",
        "string_too_long": f"must be at most {context.get('max_length')} characters long",
        "too_long": f"must be at most {context.get('max_length')} {unit} long",
        "enum": f"must be one of {context.get('expected')}",
        "literal_error": f"must be {context.get('expected')}",
        "string_pattern_mismatch": RULES.get(str(context.get("pattern")), message),
        "string_too_short": "is required"
        if (least := context.get("min_length")) == 1
        else f"must be at least {least} characters long",
    }
    text = WORDS.get(kind) or limits.get(kind) or _sentence(message)
    return Problem(path, text, BROKEN_RULES.get(kind, "") or _type_rule(kind))


def _type_rule(kind: str) -> str:
    """The rule that a value of the wrong type breaks."""
    return "type" if WORDS.get(kind) or kind.endswith(("_type", "_parsing")) else ""


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def _sentence(message: str) -> str:
    return message[:1].lower() + message[1:]
