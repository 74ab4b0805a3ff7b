"""What administrators do with projects. Values are judged by the model's own rules."""

from collections.abc import Collection

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import ProtectedError

from accounts.models import User
from clusters.models import Cluster, Kind
from core.words import some
from projects import queues
from projects.models import Department, Project


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
    members: Collection[User] = (),
) -> Project:
    """A project; its department is made when the cluster has none of that name. Memory in bytes.

    ``ValidationError`` names the fields that are wrong.
    """
    project = Project(
        name=name,
        cluster=cluster,
        description=description,
        gpu_quota=gpu_quota,
        cpu_quota=cpu_quota,
        memory_quota=memory_quota,
        over_quota=over_quota,
    )
    return _save(project, by, department, members)


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
) -> Project:
    """Change it. A smaller quota touches nothing that runs; it holds from the next start on."""
    _check(by)
    with transaction.atomic():
        _check_rename(project, name)
        project.name, project.description = name, description
        project.gpu_quota, project.cpu_quota = gpu_quota, cpu_quota
        project.memory_quota, project.over_quota = memory_quota, over_quota
        return _save(project, by, department, members)


def delete_project(project: Project, *, by: User) -> None:
    """Remove it with its assets. ``HasWorkloads`` while it has any that is not deleted."""
    _check(by)
    with transaction.atomic():
        if obstacle := obstacle_to_delete(project):
            raise HasWorkloads(obstacle)
        project.workloads.filter(deleted_at__isnull=False).delete()  # traces of deleted ones
        try:
            project.delete()
        except ProtectedError as error:
            raise HasWorkloads(f"{project} got a workload a moment ago. Look again.") from error
        queues.ask(project.cluster)


def obstacle_to_delete(project: Project) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    names = _some_workloads(project)
    return f"{project} has workloads: {names}. Delete them first." if names else ""


def _check_rename(project: Project, name: str) -> None:
    """On Kubernetes the namespace and the queue are named after the project, and its jobs are found
    there by that name alone."""
    if project.cluster.kind != Kind.KUBERNETES:
        return
    # What it is called now, not when the page was drawn; and no workload comes meanwhile.
    kept = Project.objects.select_for_update().get(pk=project.pk)
    if name != kept.name and (names := _some_workloads(project)):
        text = (
            f"{kept} keeps its name while it has workloads, for their namespace on "
            f"{project.cluster} is named after it. Delete {names} first, or make a new project."
        )
        raise ValidationError({"name": text})


def _some_workloads(project: Project) -> str:
    """A few that are not deleted, in words; empty where there are none."""
    present = project.workloads.filter(deleted_at=None).order_by("name")
    return some(list(present.values_list("name", flat=True)[:4]))


def _save(project: Project, by: User, department: str, members: Collection[User]) -> Project:
    _check(by)
    with transaction.atomic():
        project.department = _department(project.cluster, department.strip())
        project.full_clean()
        project.save()
        project.members.set(members)
        queues.ask(project.cluster)
    return project


def _department(cluster: Cluster, name: str) -> Department:
    found = Department.objects.filter(cluster=cluster, name=name).first()
    if found:
        return found
    made = Department(cluster=cluster, name=name)
    try:
        made.full_clean()
    except ValidationError as error:
        raise ValidationError({"department": error.message_dict.get("name", [])}) from error
    made.save()
    return made


def _check(by: User) -> None:
    if not by.is_administrator:
        raise PermissionDenied("Projects are for administrators to manage.")
