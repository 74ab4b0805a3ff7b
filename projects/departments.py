"""What administrators can do with departments. The model validates the values."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import prefetch_related_objects

from accounts import access, rules
from accounts.models import User
from audit import services as audit
from clusters.models import Cluster
from core.deletion import Dependents, guard_deletion
from core.rest.validation import refuse_taken_name
from projects import queues
from projects.models import Department, Project
from projects.pool_quotas import (
    PoolQuotas,
    pool_facts,
    pool_names,
    save_other_pools,
    set_default_pool,
)
from projects.quotas import (
    Demand,
    Quota,
    Usage,
    overbooked_warning,
    quota_of,
    quota_of_department,
    total_quota_of_department,
    usage_of,
)
from projects.rules import NODE_TYPE_COLUMNS, set_rules


@dataclass(frozen=True)
class DepartmentShare:
    """A department with its projects and the usage of each, by their ids."""

    department: Department
    projects: list[Project]
    usage_by_project: dict[int, Usage]

    @cached_property
    def pools(self) -> list[str]:
        return pool_names(self.department.cluster)

    @cached_property
    def quota(self) -> Quota:
        """Its quota over all node pools."""
        return total_quota_of_department(self.department, self.projects)

    def quota_in(self, pool: str) -> Quota:
        return quota_of_department(self.department, self.projects, pool)

    @cached_property
    def usage(self) -> Demand:
        """What its projects use in all node pools."""
        return sum((self.usage_by_project[it.pk].demand for it in self.projects), Demand())

    def usage_in(self, pool: str) -> Demand:
        usage = (self.usage_by_project[it.pk].in_pool(pool) for it in self.projects)
        return sum(usage, Demand())

    @cached_property
    def gpus_of_projects(self) -> float:
        quotas = (quota_of(project, pool) for project in self.projects for pool in self.pools)
        return round(sum(quota.gpus or 0.0 for quota in quotas), 4)

    @cached_property
    def warning(self) -> str:
        return overbooked_warning(self.department, self.projects)


def shares_of(departments: Sequence[Department]) -> list[DepartmentShare]:
    """Load the shares of departments in a constant number of queries."""
    prefetch_related_objects(departments, "cluster__pools", "pool_quotas")
    projects: dict[int, list[Project]] = defaultdict(list)
    rows = Project.objects.filter(department__in=departments).prefetch_related("pool_quotas")
    for project in rows:
        projects[project.department_id].append(project)
    usage = usage_of(
        project for department_projects in projects.values() for project in department_projects
    )
    return [DepartmentShare(it, projects[it.pk], usage) for it in departments]


def create_department(
    *,
    by: User,
    name: str,
    cluster: Cluster,
    gpu_quota: float | None = None,
    cpu_quota: float | None = None,
    memory_quota: int | None = None,
    over_quota: bool = True,
    pool_quotas: PoolQuotas | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Department:
    """Create a department. Memory is in bytes; a quota of ``None`` is the sum of its projects'. The
    quota is that of the default node pool; ``pool_quotas`` are those of others, and more columns of
    the default one. ``rules`` are scheduling rules by column.

    ``ValidationError`` names the wrong fields.
    """
    department = Department(
        name=name.strip(),
        cluster=cluster,
        gpu_quota=gpu_quota,
        cpu_quota=cpu_quota,
        memory_quota=memory_quota,
        over_quota=over_quota,
    )
    set_rules(department, rules or {})
    access.require(by, "departments.create", *cluster.scope_keys)
    with transaction.atomic():
        _save(department, pool_quotas or {})
        audit.record(by, "create", department, after=_audit_facts(department))
    return department


def update_department(
    department: Department,
    *,
    by: User,
    name: str,
    gpu_quota: float | None,
    cpu_quota: float | None,
    memory_quota: int | None,
    over_quota: bool,
    pool_quotas: PoolQuotas | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Department:
    """Change a department. A smaller quota does not affect running workloads; it applies to later
    starts. Node pools and columns that ``pool_quotas`` does not have stay, and so do scheduling
    rules that ``rules`` does not have. ``ValidationError`` names the wrong fields."""
    access.require(by, "departments.update", *department.scope_keys)
    before = _audit_facts(department)
    department.name = name.strip()
    department.over_quota = over_quota
    department.gpu_quota = gpu_quota
    department.cpu_quota = cpu_quota
    department.memory_quota = memory_quota
    set_rules(department, rules or {})
    with transaction.atomic():
        _save(department, pool_quotas or {})
        audit.record(by, "update", department, before=before, after=_audit_facts(department))
    return department


def delete_department(department: Department, *, by: User) -> None:
    """Delete a department with its assets. Raises ``InUse`` if it has projects."""
    access.require(by, "departments.delete", *department.scope_keys)
    key = access.scope_key("department", department.pk)
    with guard_deletion(department, lambda: obstacle_to_delete(department, by)):
        audit.record(by, "delete", department, before=_audit_facts(department))
        department.delete()
        rules.remove_rules_of_scopes(key)


def obstacle_to_delete(department: Department, by: User) -> str:
    """Return why ``by`` cannot delete the department now; empty if they can."""
    projects = Dependents.visible_among(department.projects.all(), by)
    return projects.refusal(f"{department} has projects:", "Delete them or move them first.")


def _save(department: Department, pool_quotas: PoolQuotas) -> None:
    set_default_pool(department, pool_quotas)
    department.full_clean()
    with refuse_taken_name(department):
        department.save()
    save_other_pools(department, pool_quotas)
    queues.request_update(department.cluster)


def _audit_facts(department: Department) -> dict[str, Any]:
    facts = audit.facts(department, *NODE_TYPE_COLUMNS)
    return facts | {"pools": pool_facts(department)}
