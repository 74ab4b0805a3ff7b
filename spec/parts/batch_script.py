"""A batch script of Slurm, kept as it stands: every byte of it reaches the node."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

LONGEST = 32 * 1024
NO_INTERPRETER = "the first line must be #! and an interpreter, such as #!/bin/bash"
NOT_HERE = (
    "a batch script runs as it stands on this machine and on Slurm; submit what it runs instead"
)
NOT_UTF8 = "line {}: has bytes that are not UTF-8; save it as UTF-8"
DOS_LINE_END = "\r\n"
DOS_LINES = "the lines end as on Windows (CR LF), which sbatch refuses; save it with LF alone"


def decode_script(content: bytes) -> str:
    """Return the text of a file. Raises ``ValueError`` with the first line that is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(NOT_UTF8.format(line)) from error


def _check_script(value: str) -> str:
    if not value.startswith("#!"):
        raise ValueError(NO_INTERPRETER)
    if DOS_LINE_END in value:
        raise ValueError(DOS_LINES)
    if "\0" in value:
        raise ValueError("the script has a character that no text has (NUL)")
    return value


BatchScript = Annotated[
    str,
    StringConstraints(max_length=LONGEST, strip_whitespace=False),
    AfterValidator(_check_script),
]
