"""Create, change and delete node pools. A pool consists of the nodes with a label."""

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import access
from accounts.models import User
from audit import services as audit
from clusters import health
from clusters.models import Cluster, NodePool
from clusters.nodes import store
from core.deletion import Dependents, guard_deletion
from core.rest.validation import refuse_taken_name
from spec.parts.scheduling import DEFAULT_POOL

DEFAULT_NAME = f"{DEFAULT_POOL} is the pool of all nodes that are in no other pool."


def create_pool(
    cluster: Cluster, *, by: User, name: str, label_key: str, label_value: str
) -> NodePool:
    """Create a pool of the nodes with this label. ``ValidationError`` names the fields that are
    wrong."""
    access.require(by, "nodepools.create", *cluster.scope_keys)
    pool = NodePool(cluster=cluster, name=name)
    with transaction.atomic():
        _save(pool, label_key, label_value)
        audit.record(by, "create", pool, after=audit.facts(pool))
    return pool


def update_pool(pool: NodePool, *, by: User, label_key: str, label_value: str) -> NodePool:
    """Change a pool's label. Its name stays, because workloads refer to it."""
    access.require(by, "nodepools.update", *pool.cluster.scope_keys)
    before = audit.facts(pool)
    with transaction.atomic():
        _save(pool, label_key, label_value)
        audit.record(by, "update", pool, before=before, after=audit.facts(pool))
    return pool


def delete_pool(pool: NodePool, *, by: User) -> None:
    """Delete a pool; its nodes move to the default pool. ``InUse`` if a workload that may run, or a
    project, uses it."""
    access.require(by, "nodepools.delete", *pool.cluster.scope_keys)
    cluster = pool.cluster
    with guard_deletion(pool, lambda: obstacle_to_delete(pool, by)):
        audit.record(by, "delete", pool, before=audit.facts(pool))
        pool.delete()
        store.assign_pools(cluster)


def obstacle_to_delete(pool: NodePool, by: User) -> str:
    """Return why ``by`` cannot delete the pool now, in words; empty if they can."""
    workloads = pool.cluster.workloads
    projects = pool.cluster.projects
    users = Dependents.from_names(
        workloads.visible_to(by).names_requesting(pool.name),
        len(workloads.names_requesting(pool.name)),
    )
    defaults = Dependents.from_names(
        projects.visible_to(by).names_with_default_pool(pool.name),
        len(projects.names_with_default_pool(pool.name)),
    )
    obstacles = (
        users.refusal(f"Workloads use {pool}:", "Delete them first."),
        defaults.refusal(f"Projects have {pool} as a default:", "Remove it there first."),
    )
    return " ".join(filter(None, obstacles))


def _save(pool: NodePool, label_key: str, label_value: str) -> None:
    if pool.name == DEFAULT_POOL:
        raise ValidationError({"name": DEFAULT_NAME})
    pool.label_key = label_key
    pool.label_value = label_value
    pool.full_clean()
    with refuse_taken_name(pool):
        pool.save()
    store.assign_pools(pool.cluster)
    if not pool.nodes.exists():  # the labels may be newer than the last check
        health.request_check(pool.cluster)
