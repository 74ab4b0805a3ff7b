"""Check the shape of a document, not its values: known keys, and lists where lists are expected. A
document of the right shape can be shown and edited in a form."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from spec.formats.documents import model_in_annotation
from spec.formats.merge import EXCLUDE
from spec.problems.errors import WORDS, Path, Problem

Annotations = Mapping[str, Any]


def annotations(*models: type[BaseModel]) -> dict[str, Any]:
    """The annotations of models' fields by wire name."""
    return {
        field.alias or name: field.annotation
        for model in models
        for name, field in model.model_fields.items()
    }


def faults(document: Any, fields: Annotations, at: Path = ()) -> Iterator[Problem]:
    """Every unknown key, and every value that is not a scalar, list or mapping as its field is."""
    if not isinstance(document, dict):
        yield Problem(at, f"{_name(at)} must have fields of its own")
        return
    for key, value in document.items():
        if key in fields:
            yield from _field_faults(value, fields[key], (*at, key))
        else:
            yield Problem((*at, key), unknown_key_message(key, fields), "unknown")


def unknown_key_message(key: str, fields: Annotations) -> str:
    """``numWorker is not a known field; did you mean numWorkers?``"""
    near = get_close_matches(key, fields, n=1)
    return f"{key} {WORDS['extra_forbidden']}" + (f"; did you mean {near[0]}?" if near else "")


def _field_faults(value: Any, annotation: Any, path: Path) -> Iterator[Problem]:
    if value is None or value == "":
        return
    model = model_in_annotation(annotation)
    if not _is_list(annotation):
        yield from _value_faults(value, model, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _value_faults(item, model, (*path, number), in_list=True)
    else:
        yield Problem(path, f"{path[-1]} must be a list")


def _value_faults(
    value: Any, model: type[BaseModel] | None, path: Path, *, in_list: bool = False
) -> Iterator[Problem]:
    if model is not None:
        fields = annotations(model) | ({EXCLUDE: bool} if in_list else {})
        yield from faults(value, fields, path)
    elif isinstance(value, dict | list):
        yield Problem(path, f"{_name(path)} must be a single value")


def _name(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "The text")


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple or any(map(_is_list, get_args(annotation)))
