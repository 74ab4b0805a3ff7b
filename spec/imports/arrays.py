"""Reads ``--array``: the elements of a job array, each of which becomes a workload. Pure."""

import re
from dataclasses import dataclass

ARRAY_INDEX = "SLURM_ARRAY_TASK_ID"
MOST_ELEMENTS = 100  # as many workloads as one request can create
RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?\Z")
FORM = "--array={0} is not a list of numbers, such as 0-7, 1,3,5 or 0-15:4"
TOO_MANY = "--array={0} has {1} elements; at most {2} can be submitted at once"


class ArrayError(ValueError):
    """The value is wrong; the message says how."""


@dataclass(frozen=True)
class JobArray:
    """The numbers of the elements, ascending. ``at_once`` is how many may run at the same time;
    ``None`` without a limit."""

    indexes: tuple[int, ...]
    at_once: int | None = None

    def variables(self, index: int, job_number: int) -> dict[str, str]:
        """Return what Slurm sets for an element."""
        steps = {right - left for left, right in zip(self.indexes, self.indexes[1:], strict=False)}
        return {
            "SLURM_ARRAY_JOB_ID": str(job_number),
            ARRAY_INDEX: str(index),
            "SLURM_ARRAY_TASK_COUNT": str(len(self.indexes)),
            "SLURM_ARRAY_TASK_MIN": str(self.indexes[0]),
            "SLURM_ARRAY_TASK_MAX": str(self.indexes[-1]),
            "SLURM_ARRAY_TASK_STEP": str(min(steps) if len(steps) == 1 else 1),
        }


def parse_array(value: str) -> JobArray:
    """Return the array of an option. Raises ``ArrayError``."""
    elements, percent, limit = value.partition("%")
    if percent and not (limit.isascii() and limit.isdigit()):
        raise ArrayError(FORM.format(value))
    ranges = [_parse_range(part, value) for part in elements.split(",")]
    count = sum(len(each) for each in ranges)
    if count > MOST_ELEMENTS:
        raise ArrayError(TOO_MANY.format(value, count, MOST_ELEMENTS))
    indexes = sorted({index for each in ranges for index in each})
    return JobArray(tuple(indexes), int(limit) or None if percent else None)


def _parse_range(part: str, value: str) -> range:
    match = RANGE.match(part.strip())
    if match is None:
        raise ArrayError(FORM.format(value))
    first = int(match[1])
    last = int(match[2] or first)
    step = int(match[3] or 1)
    if last < first or not step:
        raise ArrayError(FORM.format(value))
    return range(first, last + 1, step)
