"""Labels and annotations of pods, and of the job that has them."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from spec.part import Part
from spec.parts.scheduling import LabelValue
from spec.values.patterns import LABEL_KEY


def _check_label_name(name: str) -> str:
    if name and not re.match(LABEL_KEY, name):
        raise ValueError(
            f"{name!r} is not a label name; use letters, digits, - _ . between letters or digits"
        )
    return name


class Annotation(Part):
    """An annotation of the pods or the job. Its value is any text."""

    name: Annotated[str, Field(min_length=1, max_length=63), AfterValidator(_check_label_name)] = (
        Field(description="The name, such as team or example.com/team")
    )
    value: Annotated[str, StringConstraints(strip_whitespace=False)] = Field(
        "", max_length=4096, description="The value, any text"
    )


class Label(Annotation):
    """A label of the pods or the job. Its name must not belong to Kubernetes, an operator or a
    scheduler. Its value has letters and digits, and ``- _ .`` between them; with any other value
    Kubernetes would create none of the pods."""

    value: LabelValue = Field("", description="The value; letters, digits, and - _ . between them")


def require_unique_names(field: str, items: Iterable[Annotation]) -> None:
    """Raise ``ValueError`` for ``field``, by its wire name, if two of its items have one name."""
    names = [item.name for item in items]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{field}: {', '.join(sorted(twice))} is given twice")
