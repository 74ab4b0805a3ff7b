"""Lines of a shell that run before the program, in the shell that starts it."""

from typing import Annotated

from pydantic import AfterValidator, Field

from spec.values.variable import Text

MOST_LINES = 200
LONGEST_LINE = 2000


def _check_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise ValueError("must be one line; make an item of each line")
    return value


SetupLine = Annotated[Text, Field(max_length=LONGEST_LINE), AfterValidator(_check_line)]
Setup = Annotated[tuple[SetupLine, ...], Field(max_length=MOST_LINES)]
