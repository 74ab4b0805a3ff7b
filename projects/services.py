"""What administrators do with projects. Values are judged by the model's own rules."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from accounts import access
from accounts.models import User
from audit import services as audit
from clusters.models import Cluster
from core.rest.verdicts import judge_all, unless_taken
from core.words import some
from projects import queues
from projects.models import Department, Project
from projects.ranks import ProjectRank


class HasWorkloads(Exception):
    """The project cannot go while workloads belong to it; the text names some."""


def create_project(
    *,
    by: User,
    name: str,
    cluster: Cluster,
    department: str = "default",
    description: str = "",
    gpu_quota: float = 0.0,
    cpu_quota: float | None = None,
    memory_quota: int | None = None,
    over_quota: bool = True,
    rank: ProjectRank = ProjectRank.MEDIUM_LOW,
    members: Collection[User] = (),
    default_node_pools: Sequence[str] = (),
) -> Project:
    """A project; its department is made when the cluster has none of that name. Memory in bytes.

    ``ValidationError`` names the fields that are wrong.
    """
    access.require(by, "projects.create", *cluster.scope_keys)
    project = Project(
        name=name,
        cluster=cluster,
        description=description,
        gpu_quota=gpu_quota,
        cpu_quota=cpu_quota,
        memory_quota=memory_quota,
        over_quota=over_quota,
        rank=rank,
        default_node_pools=list(default_node_pools),
    )
    with transaction.atomic():
        _save(project, department, members, by)
        audit.record(by, "create", project, after=_facts(project))
    return project


def update_project(
    project: Project,
    *,
    by: User,
    name: str,
    department: str,
    description: str,
    gpu_quota: float,
    cpu_quota: float | None,
    memory_quota: int | None,
    over_quota: bool,
    members: Collection[User],
    rank: ProjectRank | None = None,
    default_node_pools: Sequence[str] | None = None,
) -> Project:
    """Change it; without a ``rank`` or node pools it keeps its own. A smaller quota ends nothing
    that runs, but what is over quota then may be preempted for the owner of another."""
    access.require(by, "projects.update", *project.scope_keys)
    with transaction.atomic():
        before = _facts(project)
        project.name, project.description = name, description
        project.gpu_quota, project.cpu_quota = gpu_quota, cpu_quota
        project.memory_quota, project.over_quota = memory_quota, over_quota
        project.rank = rank or project.rank
        if default_node_pools is not None:
            project.default_node_pools = list(default_node_pools)
        _save(project, department, members, by, lambda: _check_rename(project, name))
        audit.record(by, "update", project, before=before, after=_facts(project))
    return project


def delete_project(project: Project, *, by: User) -> None:
    """Remove it with its assets and the traces of deleted workloads. ``HasWorkloads`` while it has
    any that is not deleted."""
    access.require(by, "projects.delete", *project.scope_keys)
    with transaction.atomic():
        if obstacle := obstacle_to_delete(project):
            raise HasWorkloads(obstacle)
        audit.record(by, "delete", project, before=_facts(project))
        try:
            project.delete()
        except ProtectedError as error:
            raise HasWorkloads(f"{project} just got a workload. Try again.") from error
        queues.ask(project.cluster)


def set_projects(user: User, projects: Collection[Project], *, by: User) -> None:
    """Make someone a member of these projects and of no other."""
    with transaction.atomic():
        before, member = set(Project.objects.filter(members=user)), {"member": user.username}
        for project in before ^ set(projects):
            access.require(by, "projects.update", *project.scope_keys)
            audit.record(by, "remove" if project in before else "add", project, after=member)
        user.projects.set(projects)


def add_member(project: Project, user: User, *, by: User) -> bool:
    """Make someone a member besides the others; ``False`` for who is one."""
    access.require(by, "projects.update", *project.scope_keys)
    with transaction.atomic():
        members = Project.members.through.objects
        _, is_new = members.get_or_create(project_id=project.pk, user_id=user.pk)
        if is_new:
            audit.record(by, "add", project, after={"member": user.username})
    return is_new


def remove_member(project: Project, user: User, *, by: User) -> None:
    """Their workloads there stay, and run on."""
    access.require(by, "projects.update", *project.scope_keys)
    with transaction.atomic():
        if project.members.through.objects.filter(project=project, user=user).delete()[0]:
            audit.record(by, "remove", project, before={"member": user.username})


def obstacle_to_delete(project: Project) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    names = _some_workloads(project)
    return f"{project} has workloads: {names}. Delete them first." if names else ""


def _check_rename(project: Project, name: str) -> None:
    """On some clusters what a project has is named after it, and its workloads are found there by
    that name alone."""
    if not project.cluster.definition.names_are_fixed:
        return
    # What it is called now, not when the page was drawn; and no workload comes meanwhile.
    kept = Project.objects.select_for_update().get(pk=project.pk)
    if name != kept.name and (names := _some_workloads(project)):
        text = (
            f"{kept} keeps its name while it has workloads, because what they have on "
            f"{project.cluster} is named after it. Delete {names} first, or make a new project."
        )
        raise ValidationError({"name": text})


def _some_workloads(project: Project) -> str:
    """A few that are not deleted, in words; empty where there are none."""
    present = project.workloads.filter(deleted_at=None).order_by("name")
    return some(list(present.values_list("name", flat=True)[:4]))


def _save(
    project: Project,
    department: str,
    members: Collection[User],
    by: User,
    *rules: Callable[[], None],
) -> None:
    judge_all(
        *rules,
        lambda: _put_in_department(project, department.strip(), by),
        lambda: project.full_clean(exclude=["department"]),
    )
    with unless_taken(project):
        project.save()
    project.members.set(members)
    queues.ask(project.cluster)


def _facts(project: Project) -> dict[str, Any]:
    members = sorted(project.members.values_list("username", flat=True))
    return audit.facts(project, "default_node_pools") | {"members": members}


def _put_in_department(project: Project, name: str, by: User) -> None:
    project.department = _department(project.cluster, name, by)


def _department(cluster: Cluster, name: str, by: User) -> Department:
    department = Department.objects.filter(cluster=cluster, name=name).first()
    if department:
        return department
    department = Department(cluster=cluster, name=name)
    try:
        department.full_clean()
    except ValidationError as error:
        raise ValidationError({"department": error.error_dict.get("name", [])}) from error
    try:
        with transaction.atomic():
            department.save()
    except IntegrityError:  # somebody was quicker
        return Department.objects.get(cluster=cluster, name=name)
    audit.record(by, "create", department, after=audit.facts(department))
    return department
