"""Compare demand with quotas. Usage is read in one query for many projects."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Count, Sum

from projects.models import Department, Project
from spec.phases import HOLDING_RESOURCES, Phase
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
    """What the workloads of a project use now, and how many they are."""

    demand: Demand
    workloads: int


def usage_of(
    projects: Iterable[Project], phases: Collection[Phase] = HOLDING_RESOURCES
) -> dict[int, Usage]:
    """Return what the workloads in these phases use, by project id, in one query."""
    project_ids = [project.pk for project in projects]
    if (
        not project_ids or not phases
    ):  # Django takes as long to find that a query is empty as to run one
        return {pk: Usage(Demand(), 0) for pk in project_ids}
    rows: Iterable[Any] = (
        Project.objects.filter(
            pk__in=project_ids, workloads__phase__in=phases, workloads__deleted_at=None
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
    return {pk: usage.get(pk, Usage(Demand(), 0)) for pk in project_ids}


def quota_of(project: Project) -> Quota:
    return Quota(project.gpu_quota, project.cpu_quota, project.memory_quota)


def quota_of_department(department: Department, projects: Collection[Project]) -> Quota:
    """Return a department's own quota, or the sum of its projects' quotas. The sum is unlimited if
    one of the projects is, or if there are none."""
    gpus = department.gpu_quota
    cpu = department.cpu_quota
    memory = department.memory_quota
    if gpus is None:
        gpus = round(sum(project.gpu_quota for project in projects), 4)
    if cpu is None:
        cpu = _sum_if_limited(project.cpu_quota for project in projects)
    if memory is None:
        total = _sum_if_limited(project.memory_quota for project in projects)
        memory = None if total is None else int(total)
    return Quota(gpus, cpu, memory)


def overbooked_warning(department: Department, projects: Collection[Project]) -> str:
    """Return a warning if the quotas of the projects together exceed that of the department; else
    an empty text. A project without a limit does not count, because the department limits it."""
    quota_rows = (
        ("GPUs", department.gpu_quota, [it.gpu_quota for it in projects], _format_number),
        ("CPU cores", department.cpu_quota, [it.cpu_quota for it in projects], _format_number),
        ("of memory", department.memory_quota, [it.memory_quota for it in projects], format_bytes),
    )
    lines = []
    for unit, quota, quotas, write in quota_rows:
        total = round(sum(filter(None, quotas)), 4)
        if quota is not None and _exceeds(total, quota):
            lines.append(
                f"{_with_unit(write(total), unit)} where the department has {write(quota)}"
            )
    if not lines:
        return ""
    consequence = (
        "They get the rest only while others leave it idle."
        if department.over_quota
        else "Together they never hold more than the department has."
    )
    return f"The quotas of {department}'s projects sum to {'; '.join(lines)}. {consequence}"


def _sum_if_limited(quotas: Iterable[float | None]) -> float | None:
    values = list(quotas)
    limits = [quota for quota in values if quota is not None]
    return round(sum(limits), 4) if values and len(limits) == len(values) else None


@dataclass
class StrictQuota:
    """A quota that must not be exceeded, with its current usage."""

    #: ``project`` or ``department``.
    kind: str
    #: The owner of the quota, in words.
    owner_text: str
    quota: Quota
    usage: Demand

    def excess(self, demand: Demand) -> str:
        """Return in words how ``demand`` would exceed the quota; empty if it fits."""
        quota = self.quota
        usage = self.usage
        total = self.usage + demand
        rows = (
            ("GPUs", total.gpus, quota.gpus, usage.gpus, _format_number),
            ("CPU cores", total.cpu, quota.cpu, usage.cpu, _format_number),
            ("of memory", total.memory, quota.memory, usage.memory, format_bytes),
        )
        return "; ".join(_excess_text(*row) for row in rows if _exceeds(row[1], row[2]))


def strict_quotas_of(
    projects: Iterable[Project], phases: Collection[Phase] = HOLDING_RESOURCES
) -> dict[int, list[StrictQuota]]:
    """Return the quotas that each project must not exceed, by project id: its own, then its
    department's.

    The usage is that of workloads in ``phases``. Workloads of all projects of a department count
    towards the department's quota.
    """
    projects_by_id = {project.pk: project for project in projects}
    departments = {it.department_id: it.department for it in projects_by_id.values()}
    strict_departments = {pk: owner for pk, owner in departments.items() if not owner.over_quota}
    projects_by_department: dict[int, list[Project]] = {pk: [] for pk in strict_departments}
    for project in (
        Project.objects.filter(department__in=projects_by_department)
        if projects_by_department
        else ()
    ):
        projects_by_department[project.department_id].append(project)
    strict_projects = [project for project in projects_by_id.values() if not project.over_quota]
    usage = usage_of(
        {*strict_projects, *chain.from_iterable(projects_by_department.values())}, phases
    )
    quotas: dict[int, list[StrictQuota]] = {pk: [] for pk in projects_by_id}
    for project in strict_projects:
        own_quota = StrictQuota(
            "project", project.name, quota_of(project), usage[project.pk].demand
        )
        quotas[project.pk].append(own_quota)
    department_quotas = {
        pk: StrictQuota(
            "department",
            f"the department {strict_departments[pk]}",
            quota_of_department(strict_departments[pk], department_projects),
            sum((usage[it.pk].demand for it in department_projects), Demand()),
        )
        for pk, department_projects in projects_by_department.items()
    }
    for project in projects_by_id.values():
        if project.department_id in department_quotas:
            quotas[project.pk].append(department_quotas[project.department_id])
    return quotas


def _exceeds(total: float, quota: float | None) -> bool:
    return quota is not None and total > quota + SLACK


def _excess_text(
    unit: str, total: float, quota: float | None, used: float, format_amount: Callable[[Any], str]
) -> str:
    used_text = f" ({format_amount(used)} held)" if used else ""
    return (
        f"{_with_unit(format_amount(total), unit)}, the quota is {format_amount(quota)}{used_text}"
    )


def _with_unit(total: str, unit: str) -> str:
    """Return an amount with its unit: ``1 GPU``, ``2 GPUs``."""
    return f"{total} {unit.removesuffix('s') if total == '1' else unit}"


def _format_number(value: float) -> str:
    return f"{value:g}"
