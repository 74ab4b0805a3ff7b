"""Labels and annotations of pods."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

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
    """An annotation of the pods. Its value is any text."""

    name: Annotated[str, Field(min_length=1, max_length=63), AfterValidator(_check_label_name)] = (
        Field(description="The name, such as team or example.com/team")
    )
    value: str = Field("", max_length=4096, description="The value, any text")


class Label(Annotation):
    """A label of the pods. Its name must not belong to Kubernetes, an operator or a scheduler. Its
    value has letters and digits, and ``- _ .`` between them; with any other value Kubernetes would
    create none of the pods."""

    value: LabelValue = Field("", description="The value; letters, digits, and - _ . between them")
