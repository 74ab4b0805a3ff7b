"""Warnings: fields of a request that have no effect on its cluster, or name something that does not
exist there yet."""

from contextlib import suppress
from typing import Self

from clusters.connections import warnings
from core.rest.api import Wire
from spec.problems.errors import Problem, SpecError
from workloads.models import Workload


class WarningOut(Wire):
    """A field that has no effect on this cluster, or names something that does not exist there yet,
    and why."""

    field: str
    details: str

    @classmethod
    def of(cls, problem: Problem) -> Self:
        head, *rest = problem.path
        root = "masterSpec" if head == "master" else "spec"
        return cls(field=".".join([root, *map(str, rest)]), details=problem.message)


def warnings_of(workload: Workload) -> list[WarningOut]:
    """The warnings of a workload: if it was just submitted, those of its plan, else
    computed again."""
    if workload.warnings is not None:
        return [WarningOut.of(problem) for problem in workload.warnings]
    with suppress(SpecError):  # the spec is from an older version and cannot run again
        if workload.cluster.definition.warnings:
            problems = warnings(workload.cluster, workload.handle, workload.spec)
            return [WarningOut.of(problem) for problem in problems]
    return []
