"""What administrators can do with projects. The model validates the values."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import access, rules
from accounts.models import User
from audit import services as audit
from clusters.models import Cluster
from core.deletion import Dependents, guard_deletion
from core.rest.validation import refuse_taken_name, run_rules
from projects import members as project_members
from projects import queues
from projects.models import DEFAULT_DEPARTMENT, Department, Project
from projects.pool_quotas import PoolQuotas, pool_facts, save_other_pools, set_default_pool
from projects.rules import NODE_TYPE_COLUMNS, set_rules
from spec.parts.scheduling import PriorityClass


def create_project(
    *,
    by: User,
    name: str,
    cluster: Cluster,
    department: str = DEFAULT_DEPARTMENT,
    description: str = "",
    gpu_quota: float = 0.0,
    cpu_quota: float | None = None,
    memory_quota: int | None = None,
    over_quota: bool = True,
    rank: PriorityClass = PriorityClass.MEDIUM_LOW,
    pool_quotas: PoolQuotas | None = None,
    members: Collection[User] = (),
    default_node_pools: Sequence[str] = (),
    default_queue: str = "",
    rules: Mapping[str, Any] | None = None,
) -> Project:
    """Create a project, and its department if the cluster has none of that name. Memory is in
    bytes. The quota is that of the default node pool; ``pool_quotas`` are those of others, and more
    columns of the default one. ``rules`` are scheduling rules by column.

    ``ValidationError`` names the wrong fields.
    """
    _require_creation(by, cluster, department)
    project = Project(
        name=name.strip(),
        cluster=cluster,
        description=description,
        gpu_quota=gpu_quota,
        cpu_quota=cpu_quota,
        memory_quota=memory_quota,
        over_quota=over_quota,
        rank=rank,
        default_node_pools=list(default_node_pools),
        default_queue=default_queue.strip(),
    )
    set_rules(project, rules or {})
    with transaction.atomic():
        _save(project, department, members, by, pool_quotas or {})
        audit.record(by, "create", project, after=_audit_facts(project))
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
    rank: PriorityClass | None = None,
    pool_quotas: PoolQuotas | None = None,
    default_node_pools: Sequence[str] | None = None,
    default_queue: str | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Project:
    """Change a project. ``rank``, ``default_node_pools`` and ``default_queue`` stay if they are
    ``None``; node pools and columns that ``pool_quotas`` does not have stay, and so do scheduling
    rules that ``rules`` does not have.

    A smaller quota stops nothing, but workloads that are over quota then may be preempted.
    ``ValidationError`` names the wrong fields.
    """
    access.require(by, "projects.update", *project.scope_keys)
    if department.strip() != project.department.name:
        _require_creation(by, project.cluster, department)
    with transaction.atomic():
        before = _audit_facts(project)
        project.name = name.strip()
        project.description = description
        project.gpu_quota = gpu_quota
        project.cpu_quota = cpu_quota
        project.memory_quota = memory_quota
        project.over_quota = over_quota
        project.rank = rank or project.rank
        if default_node_pools is not None:
            project.default_node_pools = list(default_node_pools)
        if default_queue is not None:
            project.default_queue = default_queue.strip()
        set_rules(project, rules or {})
        _save(
            project,
            department,
            members,
            by,
            pool_quotas or {},
            lambda: _check_rename(project, by),
        )
        audit.record(by, "update", project, before=before, after=_audit_facts(project))
    return project


def delete_project(project: Project, *, by: User) -> None:
    """Delete a project with its assets and its deleted workloads. Raises ``InUse`` if it has other
    workloads."""
    access.require(by, "projects.delete", *project.scope_keys)
    key = access.scope_key("project", project.pk)
    with guard_deletion(project, lambda: obstacle_to_delete(project, by)):
        audit.record(by, "delete", project, before=_audit_facts(project))
        project.delete()
        rules.remove_rules_of_scopes(key)
        queues.request_update(project.cluster)


def obstacle_to_delete(project: Project, by: User) -> str:
    """Return why ``by`` cannot delete the project now; empty if they can."""
    return _dependent_workloads(project, by).refusal(
        f"{project} has workloads:", "Delete them first."
    )


def _check_rename(project: Project, by: User) -> None:
    """Refuse to rename a project if its cluster finds its workloads by the project's name."""
    if not project.cluster.definition.names_are_fixed:
        return
    # Lock the row to get the current name, and so that no workload is created meanwhile.
    current = Project.objects.select_for_update().get(pk=project.pk)
    if project.name == current.name:
        return
    reason = (
        f"{current} keeps its name while it has workloads, because what they have on "
        f"{project.cluster} is named after it:"
    )
    if text := _dependent_workloads(project, by).refusal(
        reason, "Delete them first, or make a new project."
    ):
        raise ValidationError({"name": text})


def _dependent_workloads(project: Project, by: User) -> Dependents:
    """Return the project's workloads that are not deleted, as far as ``by`` may see them."""
    return Dependents.visible_among(project.workloads.filter(deleted_at=None), by)


def _save(
    project: Project,
    department: str,
    people: Collection[User],
    by: User,
    pool_quotas: PoolQuotas,
    *checks: Callable[[], None],
) -> None:
    set_default_pool(project, pool_quotas)
    run_rules(
        *checks,
        lambda: _set_department(project, department.strip(), by),
        lambda: project.full_clean(exclude=["department"]),
    )
    with refuse_taken_name(project):
        project.save()
    save_other_pools(project, pool_quotas)
    project_members.set_members(project, people, by=by)
    queues.request_update(project.cluster)


def _audit_facts(project: Project) -> dict[str, Any]:
    names = [user.username for user in project_members.researchers_of(project)]
    facts = audit.facts(project, "default_node_pools", *NODE_TYPE_COLUMNS)
    return facts | {"pools": pool_facts(project), "members": names}


def _set_department(project: Project, name: str, by: User) -> None:
    project.department = _get_or_create_department(project.cluster, name, by)


def _require_creation(by: User, cluster: Cluster, department: str) -> None:
    """Require the permission to create projects in the department of this name, or, to create it as
    well, in the cluster."""
    named = Department.objects.filter(cluster=cluster, name=department.strip()).first()
    access.require(by, "projects.create", *(named or cluster).scope_keys)


def _get_or_create_department(cluster: Cluster, name: str, by: User) -> Department:
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
    except IntegrityError:  # another request created it meanwhile
        return Department.objects.get(cluster=cluster, name=name)
    audit.record(by, "create", department, after=audit.facts(department))
    return department
