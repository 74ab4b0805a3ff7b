"""Plan recent workloads again under an edited policy: which would be refused, and what changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, partial
from typing import Any

from accounts.models import User
from core.deletion import count_hidden
from policies.models import Policy, find_rules
from policies.words import plain_words
from projects.models import Project
from projects.scopes import Scope
from spec.draft import WorkloadDraft
from spec.formats.documents import Document, dump_spec, mask_secret_values
from spec.problems.errors import Problem
from workloads.models import Workload
from workloads.models.queries import WorkloadQuerySet
from workloads.plan import FindRules, Plan, plan

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

    @property
    def before_words(self) -> str:
        return plain_words(self.before)

    @property
    def after_words(self) -> str:
        return plain_words(self.after)


@dataclass(frozen=True)
class SimulatedWorkload:
    """A workload planned again under an edited policy. ``before`` is its plan without the edit."""

    workload: Workload
    before: Plan
    after: Plan

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
    """What an edited policy would do to the last workloads of its scope and kind, newest first.
    ``hidden`` counts those that the user may not see, which are not looked at."""

    rows: tuple[SimulatedWorkload, ...]
    hidden: int = 0

    def count(self, outcome: SimulatedOutcome) -> int:
        return sum(row.outcome is outcome for row in self.rows)

    @property
    def counts(self) -> dict[str, int]:
        return {outcome.value: self.count(outcome) for outcome in SimulatedOutcome}


def simulate(policy: Policy, *, by: User) -> Simulation:
    """Plan the last workloads that a policy would have applied to and that a user may see. The
    policy takes the place of the stored one, and need not be saved."""
    hidden = count_hidden(_workloads_in_scope(policy), by)
    return Simulation(tuple(_simulated_workloads(policy, by)), hidden)


def refuses_everything(policy: Policy, *, by: User) -> bool:
    """Whether a policy would refuse all of the last workloads, one of them by a rule of its own.
    Without workloads it would not."""
    source = policy.source.label
    is_policys_doing = False
    edited_rules = cache(partial(find_rules, edited=policy))
    for workload in _last_workloads(policy, by):
        planned = _plan_again(workload, by, edited_rules)
        if planned.is_submittable:
            return False
        is_policys_doing |= any(problem.source == source for problem in planned.problems)
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
    for workload in _last_workloads(policy, by):
        before = _plan_again(workload, by, stored_rules)
        after = _plan_again(workload, by, edited_rules)
        yield SimulatedWorkload(workload, before, after)


def _plan_again(workload: Workload, by: User, find_rules: FindRules) -> Plan:
    """Plan what a workload was submitted with, for its author."""

    def find_project(pk: int) -> Project | None:
        return workload.project if pk == workload.project_id else None

    return plan(
        WorkloadDraft.model_validate(workload.draft_json),
        by=workload.created_by or by,
        submits=True,
        find_project=find_project,
        find_rules=find_rules,
    )


def _last_workloads(policy: Policy, by: User) -> list[Workload]:
    rows = _workloads_in_scope(policy).visible_to(by)
    rows = rows.select_related("project__cluster", "project__department", "created_by")
    return list(rows.order_by("-created_at", "-pk")[:MOST_WORKLOADS])


def _workloads_in_scope(policy: Policy) -> WorkloadQuerySet:
    """Return the workloads that a policy would have applied to, without deleted ones."""
    rows = Workload.objects.filter(kind=policy.kind, deleted_at=None)
    scope = policy.owning_scope
    return rows.filter(**{COLUMNS[scope.kind]: scope.holder}) if scope.holder else rows
