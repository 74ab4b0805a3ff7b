"""Exit codes of workflow files: ``0``, ``1-3`` or ``1-3,137``."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from workflows.graph import CodeRange

RANGE = re.compile(r"\s*([0-9]{1,3})\s*(?:-\s*([0-9]{1,3})\s*)?")
LARGEST = 255
FORMAT = "write codes from 0 to 255, such as 1-3,137"


def parse_codes(value: Any) -> tuple[CodeRange, ...]:
    """Parse one number or a text of numbers and ranges. Raises ``ValueError``."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    text = str(value) if is_number or isinstance(value, str) else ""
    return tuple(_parse_range(part) for part in text.split(","))


def _parse_range(text: str) -> CodeRange:
    match = RANGE.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:40]!r} is not an exit code; {FORMAT}")
    first = int(match[1])
    last = int(match[2] or match[1])
    if first > last or last > LARGEST:
        raise ValueError(f"{text.strip()!r} is not a range of exit codes; {FORMAT}")
    return CodeRange(first=first, last=last)


ExitCodes = Annotated[tuple[CodeRange, ...], BeforeValidator(parse_codes)]
