"""The base class of all parts of a spec."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Strict
from pydantic.alias_generators import to_camel

Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]


class Part(BaseModel):
    """Frozen, closed to unknown keys, ``snake_case`` here and ``camelCase`` on the wire."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        str_strip_whitespace=True,
        str_max_length=32_768,  # the longest of any field, which says less where it can
    )
