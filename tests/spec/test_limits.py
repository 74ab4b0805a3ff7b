"""Every text has a limit, whatever it is for."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from spec import workload
from spec.data.files import MOST_DATA
from spec.part import Part

LONG = "a" * (MOST_DATA + 1)


def parts(model: type[BaseModel] = Part) -> Iterator[type[BaseModel]]:
    for inner in model.__subclasses__():
        yield inner
        yield from parts(inner)


def texts() -> Iterator[tuple[type[BaseModel], str, Any]]:
    """Model, wire name and a long value of each field that may hold a text."""
    for model in sorted(set(parts()), key=lambda it: it.__qualname__):
        for name, field in model.model_fields.items():
            if _holds_text(field.annotation):
                is_list = "tuple" in str(field.annotation)
                yield model, field.alias or name, [LONG] if is_list else LONG


def _holds_text(annotation: Any) -> bool:
    inner = get_args(annotation)
    return any(map(_holds_text, inner)) if inner else annotation is str


@pytest.mark.parametrize(
    ("model", "name", "value"), list(texts()), ids=lambda it: getattr(it, "__name__", str(it)[:30])
)
def test_a_text_of_a_spec_without_end_is_refused(
    model: type[BaseModel], name: str, value: Any
) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({name: value})
    assert name in {str(error["loc"][0]) for error in refused.value.errors() if error["loc"]}


def test_the_texts_of_a_spec_are_looked_through() -> None:
    names = {(model, name) for model, name, _ in texts()}
    assert {(workload.Replica, "image"), (workload.RelatedUrl, "url")} <= names
    assert len(names) > 60
