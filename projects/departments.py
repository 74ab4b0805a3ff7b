"""What administrators can do with departments. The model validates the values."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction

from accounts import access, rules
from accounts.models import User
from audit import services as audit
from clusters.models import Cluster
from core.deletion import Dependents, guard_deletion
from core.rest.validation import refuse_taken_name
from projects import queues
from projects.models import Department, Project
from projects.quotas import Demand, Quota, overbooked_warning, quota_of_department, usage_of
from projects.rules import NODE_TYPE_COLUMNS, set_rules


@dataclass(frozen=True)
class DepartmentShare:
    """A department with its projects and their usage together."""

    department: Department
    projects: list[Project]
    usage: Demand

    @cached_property
    def quota(self) -> Quota:
        return quota_of_department(self.department, self.projects)

    @cached_property
    def gpus_of_projects(self) -> float:
        return round(sum(project.gpu_quota for project in self.projects), 4)

    @cached_property
    def warning(self) -> str:
        return overbooked_warning(self.department, self.projects)


def shares_of(departments: Collection[Department]) -> list[DepartmentShare]:
    """Load the shares of departments in two queries."""
    projects: dict[int, list[Project]] = defaultdict(list)
    for project in Project.objects.filter(department__in=departments):
        projects[project.department_id].append(project)
    usage = usage_of(
        project for department_projects in projects.values() for project in department_projects
    )

    def share(department: Department) -> DepartmentShare:
        department_projects = projects[department.pk]
        return DepartmentShare(
            department,
            department_projects,
            sum((usage[it.pk].demand for it in department_projects), Demand()),
        )

    return [share(department) for department in departments]


def create_department(
    *,
    by: User,
    name: str,
    cluster: Cluster,
    gpu_quota: float | None = None,
    cpu_quota: float | None = None,
    memory_quota: int | None = None,
    over_quota: bool = True,
    rules: Mapping[str, Any] | None = None,
) -> Department:
    """Create a department. Memory is in bytes; a quota of ``None`` is the sum of its projects'.
    ``rules`` are scheduling rules by column.

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
        _save(department)
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
    rules: Mapping[str, Any] | None = None,
) -> Department:
    """Change a department. A smaller quota does not affect running workloads; it applies to later
    starts. Scheduling rules that ``rules`` does not have stay. ``ValidationError`` names the wrong
    fields."""
    access.require(by, "departments.update", *department.scope_keys)
    before = _audit_facts(department)
    department.name = name.strip()
    department.over_quota = over_quota
    department.gpu_quota = gpu_quota
    department.cpu_quota = cpu_quota
    department.memory_quota = memory_quota
    set_rules(department, rules or {})
    with transaction.atomic():
        _save(department)
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


def _save(department: Department) -> None:
    department.full_clean()
    with refuse_taken_name(department):
        department.save()
    queues.request_update(department.cluster)


def _audit_facts(department: Department) -> dict[str, Any]:
    return audit.facts(department, *NODE_TYPE_COLUMNS)
