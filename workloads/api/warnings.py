"""Warnings: fields of a request that have no effect on its cluster, or name something that does not
exist there yet."""

from contextlib import suppress
from itertools import chain
from typing import Self

from pydantic import Field

from assets.credential import own_values
from clusters.connections import warnings
from core.rest.api import Wire
from spec.problems.errors import Problem, SpecError
from workloads.models import Workload


class WarningOut(Wire):
    """A part of the request that has no effect on this cluster, that needs something which does not
    exist yet, or that is open to more people than it seems, and why."""

    field: str = Field(description="The path of the field in the request")
    details: str = Field(description="What is wrong, and what to do about it")

    @classmethod
    def of(cls, problem: Problem) -> Self:
        head, *rest = problem.path
        roots = {"worker": ["spec"], "master": ["masterSpec"]}
        steps = [*roots.get(str(head), ["spec", head]), *rest]
        return cls(field=".".join(map(str, steps)), details=problem.message)


def warnings_of(workload: Workload) -> list[WarningOut]:
    """Return the warnings of a workload: those of its plan if it was just submitted, else they are
    computed again."""
    if workload.warnings is not None:
        return [WarningOut.of(problem) for problem in workload.warnings]
    with suppress(SpecError):  # it was written under other rules, and does not run again
        spec = workload.spec
        assets = workload.assets.values_list("role", "kind", "asset_id")
        problems = chain(
            warnings(workload.cluster, workload.handle, spec),
            own_values.tool_warnings(spec, assets),
        )
        return [WarningOut.of(problem) for problem in problems]
    return []
