"""Compare demand with quotas. Usage is read in one query for many projects."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from django.db.models import Count, F, Sum

from projects.models import Department, Project
from projects.pool_quotas import (
    DepartmentQuotaColumns,
    ProjectQuotaColumns,
    department_row,
    pool_names,
    project_row,
)
from spec.parts.scheduling import DEFAULT_POOL
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

    gpus: float | None
    cpu: float | None
    memory: int | None

    def __add__(self, other: "Quota") -> "Quota":
        return Quota(
            _add_limits(self.gpus, other.gpus),
            _add_limits(self.cpu, other.cpu),
            _add_limits(self.memory, other.memory),
        )


UNLIMITED = Quota(None, None, None)
NOTHING = Quota(0.0, 0.0, 0)


@dataclass(frozen=True)
class Usage:
    """What the workloads of a project use now, and how many they are. ``by_pool`` is their demand
    by the name of the node pool that it counts in."""

    demand: Demand = Demand()
    workloads: int = 0
    by_pool: Mapping[str, Demand] = field(default_factory=dict)

    def in_pool(self, pool: str) -> Demand:
        return self.by_pool.get(pool, Demand())


def usage_of(
    projects: Iterable[Project], phases: Collection[Phase] = HOLDING_RESOURCES
) -> dict[int, Usage]:
    """Return what the workloads in these phases use, by project id, in one query."""
    usage = {project.pk: Usage() for project in projects}
    if not usage or not phases:
        return usage  # Django takes as long to find that a query is empty as to run one
    rows: Iterable[Any] = (
        Project.objects.filter(
            pk__in=usage, workloads__phase__in=phases, workloads__deleted_at=None
        )
        .order_by()
        .values("pk", pool=F("workloads__pool__name"))
        .annotate(
            gpus=Sum("workloads__gpus"),
            cpu=Sum("workloads__cpu_cores"),
            memory=Sum("workloads__memory_bytes"),
            count=Count("workloads"),
        )
    )
    for row in rows:
        demand = Demand(round(row["gpus"], 4), round(row["cpu"], 4), row["memory"])
        earlier = usage[row["pk"]]
        usage[row["pk"]] = Usage(
            earlier.demand + demand,
            earlier.workloads + row["count"],
            {**earlier.by_pool, row["pool"] or DEFAULT_POOL: demand},
        )
    return usage


def quota_of(project: Project, pool: str = DEFAULT_POOL) -> Quota:
    """Return what a project deserves of a node pool."""
    return _deserved(project_row(project, pool))


def total_quota(project: Project) -> Quota:
    """Return what a project deserves of all node pools together."""
    quotas = (quota_of(project, pool) for pool in pool_names(project.cluster))
    return sum(quotas, NOTHING)


def total_limit(project: Project) -> Quota:
    """Return what a project never exceeds in all node pools together."""
    return sum((limit_of(project, pool) for pool in pool_names(project.cluster)), NOTHING)


def limit_of(project: Project, pool: str = DEFAULT_POOL) -> Quota:
    """Return what a project never exceeds in a node pool."""
    row = project_row(project, pool)
    return _limit(row, _deserved(row))


def quota_of_department(
    department: Department, projects: Collection[Project], pool: str = DEFAULT_POOL
) -> Quota:
    """Return a department's own quota in a node pool, or the sum of its projects' quotas. The sum
    is unlimited if one of the projects is, or if there are none."""
    row = department_row(department, pool)
    quotas = [quota_of(project, pool) for project in projects]
    gpus = row.gpu_quota
    cpu = row.cpu_quota
    memory = row.memory_quota
    if gpus is None:
        gpus = round(sum(quota.gpus or 0.0 for quota in quotas), 4)
    if cpu is None:
        cpu = _sum_if_limited(quota.cpu for quota in quotas)
    if memory is None:
        total = _sum_if_limited(quota.memory for quota in quotas)
        memory = None if total is None else int(total)
    return Quota(gpus, cpu, memory)


def total_quota_of_department(department: Department, projects: Collection[Project]) -> Quota:
    """Return what a department deserves of all node pools together."""
    pools = pool_names(department.cluster)
    return sum((quota_of_department(department, projects, pool) for pool in pools), NOTHING)


def total_limit_of_department(department: Department, projects: Collection[Project]) -> Quota:
    """Return what the projects of a department together never exceed in all node pools."""
    pools = pool_names(department.cluster)
    return sum((limit_of_department(department, projects, pool) for pool in pools), NOTHING)


def limit_of_department(
    department: Department, projects: Collection[Project], pool: str = DEFAULT_POOL
) -> Quota:
    """Return what the projects of a department together never exceed in a node pool."""
    row = department_row(department, pool)
    return _limit(row, quota_of_department(department, projects, pool))


def _deserved(row: ProjectQuotaColumns) -> Quota:
    return Quota(row.gpu_quota, row.cpu_quota, row.memory_quota)


def _limit(row: ProjectQuotaColumns | DepartmentQuotaColumns, deserved: Quota) -> Quota:
    return Quota(row.gpu_limit, None, None) if row.over_quota else deserved


def overbooked_warning(department: Department, projects: Collection[Project]) -> str:
    """Return a warning if the quotas of the projects together exceed that of the department in a
    node pool; else an empty text. A project without a limit does not count, because the department
    limits it."""
    pools = pool_names(department.cluster)
    sentences: list[str] = []
    for pool in pools:
        row = department_row(department, pool)
        quotas = [quota_of(project, pool) for project in projects]
        lines = _overbooked_lines(row, quotas)
        if not lines:
            continue
        consequence = (
            "They get the rest only while others leave it idle."
            if row.over_quota
            else "Together they never hold more than the department has."
        )
        where = f" in the node pool {pool}" if len(pools) > 1 else ""
        sentences.append(
            f"The quotas of {department}'s projects{where} sum to {'; '.join(lines)}. {consequence}"
        )
    return " ".join(sentences)


def _overbooked_lines(row: DepartmentQuotaColumns, quotas: Collection[Quota]) -> list[str]:
    quota_rows = (
        ("GPUs", row.gpu_quota, [it.gpus for it in quotas], _format_number),
        ("CPU cores", row.cpu_quota, [it.cpu for it in quotas], _format_number),
        ("of memory", row.memory_quota, [it.memory for it in quotas], format_bytes),
    )
    lines = []
    for unit, quota, amounts, write in quota_rows:
        total = round(sum(filter(None, amounts)), 4)
        if quota is not None and _exceeds(total, quota):
            lines.append(
                f"{_with_unit(write(total), unit)} where the department has {write(quota)}"
            )
    return lines


def _add_limits(one: Any, other: Any) -> Any:
    return None if one is None or other is None else round(one + other, 4)


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
    #: ``quota``, or ``limit`` if the owner may exceed its quota up to that.
    noun: str = "quota"

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
        return "; ".join(_excess_text(self.noun, *row) for row in rows if _exceeds(row[1], row[2]))


def owner_in_pool(owner: Project | Department, pool: str) -> str:
    """Return the name of a quota's owner, with the node pool if its cluster has several."""
    name = f"the department {owner}" if isinstance(owner, Department) else owner.name
    return f"{name} in the node pool {pool}" if len(pool_names(owner.cluster)) > 1 else name


def strict_quotas_of(
    projects: Iterable[Project],
    phases: Collection[Phase] = HOLDING_RESOURCES,
    pool: str = DEFAULT_POOL,
) -> dict[int, list[StrictQuota]]:
    """Return what each project must not exceed in a node pool, by project id: its own quota or
    limit, then its department's.

    The usage is that of workloads in ``phases``. Workloads of all projects of a department count
    towards the department's quota.
    """
    projects_by_id = {project.pk: project for project in projects}
    departments = {it.department_id: it.department for it in projects_by_id.values()}
    strict_departments = {
        pk: owner for pk, owner in departments.items() if is_strict(department_row(owner, pool))
    }
    projects_by_department = _projects_of(strict_departments, pool)
    strict_projects = [it for it in projects_by_id.values() if is_strict(project_row(it, pool))]
    usage = usage_of(
        {*strict_projects, *chain.from_iterable(projects_by_department.values())}, phases
    )
    quotas: dict[int, list[StrictQuota]] = {pk: [] for pk in projects_by_id}
    for project in strict_projects:
        own_quota = StrictQuota(
            "project",
            owner_in_pool(project, pool),
            limit_of(project, pool),
            usage[project.pk].in_pool(pool),
            _noun(project_row(project, pool)),
        )
        quotas[project.pk].append(own_quota)
    department_quotas = {
        pk: StrictQuota(
            "department",
            owner_in_pool(strict_departments[pk], pool),
            limit_of_department(strict_departments[pk], department_projects, pool),
            sum((usage[it.pk].in_pool(pool) for it in department_projects), Demand()),
            _noun(department_row(strict_departments[pk], pool)),
        )
        for pk, department_projects in projects_by_department.items()
    }
    for project in projects_by_id.values():
        if project.department_id in department_quotas:
            quotas[project.pk].append(department_quotas[project.department_id])
    return quotas


def _projects_of(departments: Collection[int], pool: str) -> dict[int, list[Project]]:
    """Return the projects by the id of their department, with their quotas in ``pool``."""
    projects: dict[int, list[Project]] = {pk: [] for pk in departments}
    if not projects:
        return projects
    rows = Project.objects.filter(department__in=projects)
    if pool != DEFAULT_POOL:
        rows = rows.prefetch_related("pool_quotas")
    for project in rows:
        projects[project.department_id].append(project)
    return projects


def is_strict(row: ProjectQuotaColumns | DepartmentQuotaColumns) -> bool:
    """Whether there is something that its owner never exceeds."""
    return not row.over_quota or row.gpu_limit is not None


def _noun(row: ProjectQuotaColumns | DepartmentQuotaColumns) -> str:
    return "limit" if row.over_quota else "quota"


def _exceeds(total: float, quota: float | None) -> bool:
    return quota is not None and total > quota + SLACK


def _excess_text(
    noun: str,
    unit: str,
    total: float,
    quota: float | None,
    used: float,
    format_amount: Callable[[Any], str],
) -> str:
    used_text = f" ({format_amount(used)} held)" if used else ""
    return (
        f"{_with_unit(format_amount(total), unit)}, the {noun} is {format_amount(quota)}{used_text}"
    )


def _with_unit(total: str, unit: str) -> str:
    """Return an amount with its unit: ``1 GPU``, ``2 GPUs``."""
    return f"{total} {unit.removesuffix('s') if total == '1' else unit}"


def _format_number(value: float) -> str:
    return f"{value:g}"
