"""What administrators do with departments. Values are judged by the model's own rules."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import ProtectedError

from accounts.models import User
from clusters.models import Cluster
from core.words import some
from projects import queues
from projects.models import Department, Project
from projects.quotas import Demand, Quota, overbooked, quota_of_department, usage_of


class HasProjects(Exception):
    """The department cannot go while projects belong to it; the text names some."""


@dataclass(frozen=True)
class Share:
    """A department with its projects and what these hold together."""

    department: Department
    projects: list[Project]
    held: Demand

    @cached_property
    def quota(self) -> Quota:
        return quota_of_department(self.department, self.projects)

    @cached_property
    def gpus_of_projects(self) -> float:
        return round(sum(project.gpu_quota for project in self.projects), 4)

    @cached_property
    def warning(self) -> str:
        return overbooked(self.department, self.projects)


def shares_of(departments: Collection[Department]) -> list[Share]:
    """In two queries for all of them."""
    projects: dict[int, list[Project]] = defaultdict(list)
    for project in Project.objects.filter(department__in=departments):
        projects[project.department_id].append(project)
    usage = usage_of(project for theirs in projects.values() for project in theirs)

    def share(department: Department) -> Share:
        theirs = projects[department.pk]
        return Share(department, theirs, sum((usage[it.pk].held for it in theirs), Demand()))

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
) -> Department:
    """A department without projects. Memory in bytes; what is ``None`` is the sum of its projects'.

    ``ValidationError`` names the fields that are wrong.
    """
    department = Department(
        name=name,
        cluster=cluster,
        gpu_quota=gpu_quota,
        cpu_quota=cpu_quota,
        memory_quota=memory_quota,
        over_quota=over_quota,
    )
    return _save(department, by)


def update_department(
    department: Department,
    *,
    by: User,
    name: str,
    gpu_quota: float | None,
    cpu_quota: float | None,
    memory_quota: int | None,
    over_quota: bool,
) -> Department:
    """Change it. A smaller quota touches nothing that runs; it holds from the next start on."""
    department.name, department.over_quota = name, over_quota
    department.gpu_quota, department.cpu_quota = gpu_quota, cpu_quota
    department.memory_quota = memory_quota
    return _save(department, by)


def delete_department(department: Department, *, by: User) -> None:
    """Remove it with its assets. ``HasProjects`` while it has any."""
    check(by)
    try:
        with transaction.atomic():
            department.delete()
    except ProtectedError as error:
        raise HasProjects(obstacle_to_delete(department)) from error


def obstacle_to_delete(department: Department) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    names = some(list(department.projects.values_list("name", flat=True)[:4]))
    return f"{department} has projects: {names}. Delete them or move them first." if names else ""


def _save(department: Department, by: User) -> Department:
    check(by)
    department.full_clean()
    with transaction.atomic():
        department.save()
        queues.ask(department.cluster)
    return department


def check(by: User) -> None:
    if not by.is_administrator:
        raise PermissionDenied("Departments are for administrators to manage.")
