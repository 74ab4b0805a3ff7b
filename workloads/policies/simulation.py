"""Plan recent workloads again under an edited policy: which would be refused, and what changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, partial
from typing import Any

from accounts.models import User
from policies.models import Policy, find_rules
from projects.models import Project
from projects.scopes import OwningScope, Scope
from spec.draft import WorkloadDraft
from spec.formats.documents import Document, dump_spec, mask_secret_values
from spec.problems.errors import Problem
from workloads.models import Workload
from workloads.plan import Plan, plan

MOST_WORKLOADS = 100
#: The column of a workload that refers to the holder of a scope.
COLUMNS = {
    Scope.CLUSTER: "cluster",
    Scope.DEPARTMENT: "project__department",
    Scope.PROJECT: "project",
}


class SimulatedOutcome(StrEnum):
    """What a workload would be if it were submitted again."""

    REFUSED = "refused"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class ChangedValue:
    """A value that differs, by its dotted path in the spec. ``None`` stands for no value."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class SimulatedWorkload:
    """A workload planned again under an edited policy. ``before`` is its plan without the edit."""

    workload: Workload
    before: Plan
    after: Plan
    source: str

    @property
    def outcome(self) -> SimulatedOutcome:
        if not self.after.is_submittable:
            return SimulatedOutcome.REFUSED
        return (
            SimulatedOutcome.CHANGED
            if self.spec_before != self.spec_after
            else SimulatedOutcome.UNCHANGED
        )

    @property
    def problems(self) -> list[Problem]:
        """Why it would be refused."""
        return self.after.problems

    @property
    def is_refused_already(self) -> bool:
        """Whether it would be refused without the edit as well."""
        return not self.before.is_submittable

    @property
    def is_refused_by_policy(self) -> bool:
        """Whether a rule of the edited policy refuses it."""
        return any(problem.source == self.source for problem in self.problems)

    @property
    def changes(self) -> list[ChangedValue]:
        """The values that would differ, without those of variables that look secret."""
        before = mask_secret_values(self.spec_before)
        return list(changed_values(before, mask_secret_values(self.spec_after)))

    @cached_property
    def spec_before(self) -> Document:
        """The spec without the edit; of a workload that would be refused, the one it has."""
        spec = self.before.spec
        return dump_spec(spec) if spec and self.before.is_submittable else self.workload.spec_json

    @cached_property
    def spec_after(self) -> Document:
        return dump_spec(self.after.spec) if self.after.spec else {}


@dataclass(frozen=True)
class Simulation:
    """What an edited policy would do to the last workloads of its scope and kind, newest first."""

    rows: tuple[SimulatedWorkload, ...]

    def count(self, outcome: SimulatedOutcome) -> int:
        return sum(row.outcome is outcome for row in self.rows)

    @property
    def counts(self) -> dict[str, int]:
        return {outcome.value: self.count(outcome) for outcome in SimulatedOutcome}


def simulate(policy: Policy, *, by: User) -> Simulation:
    """Plan the last workloads that a policy would have applied to and that a user may see. The
    policy takes the place of the stored one, and need not be saved."""
    return Simulation(tuple(_simulated_workloads(policy, by)))


def refuses_everything(policy: Policy, *, by: User) -> bool:
    """Whether a policy would refuse all of the last workloads, one of them by a rule of its own.
    Without workloads it would not."""
    is_policys_doing = False
    for row in _simulated_workloads(policy, by):
        if row.outcome is not SimulatedOutcome.REFUSED:
            return False
        is_policys_doing = is_policys_doing or row.is_refused_by_policy
    return is_policys_doing


def changed_values(before: Any, after: Any, path: str = "") -> Iterator[ChangedValue]:
    """Yield where two documents differ. Lists are compared item by item if they are equally
    long."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from changed_values(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed_values(old, new, f"{path}[{number}]")
    elif before != after:
        yield ChangedValue(path, before, after)


def _simulated_workloads(policy: Policy, by: User) -> Iterator[SimulatedWorkload]:
    stored_rules = cache(find_rules)
    edited_rules = cache(partial(find_rules, edited=policy))
    source = policy.source.label
    for workload in _last_workloads(policy.owning_scope, policy.kind, by):
        draft = WorkloadDraft.model_validate(workload.draft_json)

        def find_project(pk: int, project: Project = workload.project) -> Project | None:
            return project if pk == project.pk else None

        replan = partial(
            plan,
            draft,
            by=workload.created_by or by,
            submits=True,
            find_project=find_project,
        )
        before = replan(find_rules=stored_rules)
        yield SimulatedWorkload(workload, before, replan(find_rules=edited_rules), source)


def _last_workloads(scope: OwningScope, kind: str, by: User) -> list[Workload]:
    rows = Workload.objects.visible_to(by).filter(kind=kind)
    if scope.holder:
        rows = rows.filter(**{COLUMNS[scope.kind]: scope.holder})
    rows = rows.select_related("project__cluster", "project__department", "created_by")
    return list(rows.order_by("-created_at", "-pk")[:MOST_WORKLOADS])
