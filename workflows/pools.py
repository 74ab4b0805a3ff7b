"""Pools: names by which OSMO's files and command line know projects. Administrators keep the
table; a project that is in no pool is one by its own name."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts import access
from accounts.models import User
from audit import services as audit
from clusters.models import State
from projects.models import Project
from projects.quotas import total_quota, usage_of
from workflows.models import Pool


@dataclass(frozen=True)
class PoolUse:
    """A pool, and the GPUs of its project. ``limit`` is ``None`` without a quota; ``capacity`` and
    ``free`` are those of the cluster, which pools of several projects may share."""

    name: str
    description: str
    project: Project
    used: float
    limit: float | None
    usage: float
    capacity: int
    free: float

    @property
    def is_online(self) -> bool:
        return self.project.cluster.state == State.CONNECTED


def save(name: str, *, project: Project, description: str, by: User) -> Pool:
    """Create a pool, or lead an existing one to another project. ``ValidationError`` names what is
    wrong."""
    access.require(by, "settings.update")
    with transaction.atomic():
        earlier = Pool.objects.filter(name=name).first()
        pool = Pool(name=name, project=project, description=description)
        pool.full_clean(validate_unique=False)
        before = _facts(earlier) if earlier else None
        pool.save()
        audit.record(by, "update" if earlier else "create", pool, before=before, after=_facts(pool))
    return pool


def delete(pool: Pool, *, by: User) -> None:
    """Delete a pool. Its project and the workflows there stay."""
    access.require(by, "settings.update")
    with transaction.atomic():
        audit.record(by, "delete", pool, before=_facts(pool))
        pool.delete()


def _facts(pool: Pool) -> dict[str, Any]:
    return {"project": str(pool.project), "description": pool.description}


def find_project(name: str, *, by: User) -> Project | None:
    """Return the project of the pool with this name; else the one that has this name itself."""
    projects = Project.objects.open_to(by, "projects.read").select_related("cluster")
    return projects.filter(osmo_pools=name).first() or projects.filter(name=name).first()


def read_use(by: User, names: Iterable[str] = ()) -> list[PoolUse]:
    """Return the pools whose projects a person sees, and the projects that are in none, by name;
    only those with these ``names``, if any are given."""
    visible = {row.pk: row for row in Project.objects.open_to(by, "projects.read").for_list()}
    pools = [(it.name, it.description, it.project_id) for it in Pool.objects.visible_to(by)]
    in_pools = {project for _, _, project in pools}
    pools += [(it.name, it.description, it.pk) for it in visible.values() if it.pk not in in_pools]
    wanted = set(names)
    clusters = {row.cluster_id for row in visible.values()}
    everyone = list(Project.objects.filter(cluster__in=clusters).order_by())
    usage = {pk: use.demand.gpus for pk, use in usage_of(everyone).items()}
    rows = []
    for name, description, pk in sorted(pools):
        if wanted and name not in wanted:
            continue
        project = visible[pk]
        limit = total_quota(project).gpus
        capacity = project.cluster.gpu_count
        busy = sum(usage[it.pk] for it in everyone if it.cluster_id == project.cluster_id)
        rows.append(
            PoolUse(
                name=name,
                description=description,
                project=project,
                used=usage[pk] if limit is None else min(usage[pk], limit),
                limit=limit,
                usage=usage[pk],
                capacity=capacity,
                free=max(capacity - busy, 0),
            )
        )
    return rows
