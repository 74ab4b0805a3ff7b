"""Compare demand with quotas. The sums are pure; usage comes in one query for many projects."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Count, Sum

from projects.models import Department, Project
from spec.phases import HOLDING, Phase
from spec.values.quantities import format_bytes
from spec.workload import WorkloadSpec

SLACK = 1e-6  # tolerance for sums of fractions


@dataclass(frozen=True)
class Demand:
    """Resources requested or in use: GPUs, CPU cores, bytes of memory."""

    gpus: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    @classmethod
    def from_spec(cls, spec: WorkloadSpec, *, gpu_memory: int) -> "Demand":
        return cls(spec.gpus(gpu_memory), spec.cpu_cores, spec.memory_bytes)

    def __add__(self, other: "Demand") -> "Demand":
        return Demand(
            round(self.gpus + other.gpus, 4),
            round(self.cpu + other.cpu, 4),
            self.memory + other.memory,
        )

    def __sub__(self, other: "Demand") -> "Demand":
        return self + Demand(-other.gpus, -other.cpu, -other.memory)


@dataclass(frozen=True)
class Quota:
    """A quota: GPUs, CPU cores, bytes of memory; ``None`` is unlimited."""

    gpus: float
    cpu: float | None
    memory: int | None


@dataclass(frozen=True)
class Usage:
    """What a project uses now, and the number of workloads that use it."""

    demand: Demand
    workloads: int


def usage_of(projects: Iterable[Project], phases: Collection[Phase] = HOLDING) -> dict[int, Usage]:
    """Usage by project id of workloads in these phases, in one query."""
    asked = [project.pk for project in projects]
    if not asked or not phases:  # Django takes as long to find that a query is empty as to run one
        return {pk: Usage(Demand(), 0) for pk in asked}
    rows: Iterable[Any] = (
        Project.objects.filter(
            pk__in=asked, workloads__phase__in=phases, workloads__deleted_at=None
        )
        .annotate(
            gpus=Sum("workloads__gpus"),
            cpu=Sum("workloads__cpu_cores"),
            memory=Sum("workloads__memory_bytes"),
            count=Count("workloads"),
        )
        .only("pk")
        .order_by()
    )
    usage = {
        it.pk: Usage(Demand(round(it.gpus, 4), round(it.cpu, 4), it.memory), it.count)
        for it in rows
    }
    return {pk: usage.get(pk, Usage(Demand(), 0)) for pk in asked}


def quota_of(project: Project) -> Quota:
    return Quota(project.gpu_quota, project.cpu_quota, project.memory_quota)


def quota_of_department(department: Department, projects: Collection[Project]) -> Quota:
    """A department's own quota, or the sum of its projects'; unlimited if one of them is, or if
    there are no projects."""
    gpus = department.gpu_quota
    cpu = department.cpu_quota
    memory = department.memory_quota
    if gpus is None:
        gpus = round(sum(project.gpu_quota for project in projects), 4)
    if cpu is None:
        cpu = _sum_if_limited(project.cpu_quota for project in projects)
    if (
        memory is None
        and (total := _sum_if_limited(project.memory_quota for project in projects)) is not None
    ):
        memory = int(total)
    return Quota(gpus, cpu, memory)


def overbooked_warning(department: Department, projects: Collection[Project]) -> str:
    """A warning if the quotas of its projects together exceed its own; else empty. Projects without
    a limit are limited by the department."""
    rows = (
        ("GPUs", department.gpu_quota, [it.gpu_quota for it in projects], _format_number),
        ("CPU cores", department.cpu_quota, [it.cpu_quota for it in projects], _format_number),
        ("of memory", department.memory_quota, [it.memory_quota for it in projects], format_bytes),
    )
    lines = []
    for unit, quota, quotas, write in rows:
        total = round(sum(filter(None, quotas)), 4)
        if quota is not None and _exceeds(total, quota):
            lines.append(
                f"{_with_unit(write(total), unit)} where the department has {write(quota)}"
            )
    if not lines:
        return ""
    beyond = (
        "They get the rest only while others leave it idle."
        if department.over_quota
        else "Together they never hold more than the department has."
    )
    return f"The quotas of {department}'s projects sum to {'; '.join(lines)}. {beyond}"


def _sum_if_limited(quotas: Iterable[float | None]) -> float | None:
    values = list(quotas)
    bounds = [quota for quota in values if quota is not None]
    return round(sum(bounds), 4) if values and len(bounds) == len(values) else None


@dataclass
class StrictQuota:
    """A quota that must not be exceeded, with its current usage. ``whose`` says in words whose it
    is."""

    kind: str
    owner_text: str
    quota: Quota
    usage: Demand

    def excess(self, demand: Demand) -> str:
        """How ``demand`` would exceed the quota, in words; empty if it fits."""
        quota = self.quota
        held = self.usage
        total = self.usage + demand
        rows = (
            ("GPUs", total.gpus, quota.gpus, held.gpus, _format_number),
            ("CPU cores", total.cpu, quota.cpu, held.cpu, _format_number),
            ("of memory", total.memory, quota.memory, held.memory, format_bytes),
        )
        return "; ".join(_excess_text(*row) for row in rows if _exceeds(row[1], row[2]))


def strict_quotas_of(
    projects: Iterable[Project], phases: Collection[Phase] = HOLDING
) -> dict[int, list[StrictQuota]]:
    """The accounts that limit each project, by its id: its own, then its department's, which all
    its projects' workloads in these phases use."""
    asked = {project.pk: project for project in projects}
    owners = {it.department_id: it.department for it in asked.values()}
    strict = {pk: owner for pk, owner in owners.items() if not owner.over_quota}
    members: dict[int, list[Project]] = {pk: [] for pk in strict}
    for project in Project.objects.filter(department__in=members) if members else ():
        members[project.department_id].append(project)
    alone = [project for project in asked.values() if not project.over_quota]
    usage = usage_of({*alone, *chain.from_iterable(members.values())}, phases)
    accounts: dict[int, list[StrictQuota]] = {pk: [] for pk in asked}
    for project in alone:
        own = StrictQuota("project", project.name, quota_of(project), usage[project.pk].demand)
        accounts[project.pk].append(own)
    shared = {
        pk: StrictQuota(
            "department",
            f"the department {strict[pk]}",
            quota_of_department(strict[pk], theirs),
            sum((usage[it.pk].demand for it in theirs), Demand()),
        )
        for pk, theirs in members.items()
    }
    for project in asked.values():
        if project.department_id in shared:
            accounts[project.pk].append(shared[project.department_id])
    return accounts


def _exceeds(total: float, quota: float | None) -> bool:
    return quota is not None and total > quota + SLACK


def _excess_text(
    unit: str, total: float, quota: float | None, held: float, write: Callable[[Any], str]
) -> str:
    already = f" ({write(held)} held)" if held else ""
    return f"{_with_unit(write(total), unit)}, the quota is {write(quota)}{already}"


def _with_unit(total: str, unit: str) -> str:
    """``1 GPU``, ``2 GPUs``."""
    return f"{total} {unit.removesuffix('s') if total == '1' else unit}"


def _format_number(value: float) -> str:
    return f"{value:g}"
