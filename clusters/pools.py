"""What administrators do with node pools: parts of a cluster by a label of its nodes."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from accounts.models import User
from clusters import nodes, services
from clusters.models import DEFAULT_POOL, Cluster, NodePool
from core.words import some
from spec.phases import TERMINAL

DEFAULT_NAME = f"{DEFAULT_POOL} is the pool of all nodes that no other one takes."


class InUse(Exception):
    """The pool cannot go while workloads ask for it; the text names some."""


def create_pool(
    cluster: Cluster, *, by: User, name: str, label_key: str, label_value: str
) -> NodePool:
    """A pool of the nodes with this label. ``ValidationError`` names the fields that are wrong."""
    pool = NodePool(cluster=cluster, name=name)
    return _save(pool, by, label_key, label_value)


def update_pool(pool: NodePool, *, by: User, label_key: str, label_value: str) -> NodePool:
    """Take other nodes. The name stays: workloads know the pool by it."""
    return _save(pool, by, label_key, label_value)


def delete_pool(pool: NodePool, *, by: User) -> None:
    """Its nodes go to the default pool. ``InUse`` while a workload that may run asks for it."""
    _check(by)
    if obstacle := obstacle_to_delete(pool):
        raise InUse(obstacle)
    cluster = pool.cluster
    with transaction.atomic():
        pool.delete()
        nodes.sort(cluster)


def obstacle_to_delete(pool: NodePool) -> str:
    """Why it cannot be deleted now, in words; empty where it can."""
    names = some(users_of(pool))
    return f"Workloads ask for {pool}: {names}. Delete them first." if names else ""


def users_of(pool: NodePool) -> list[str]:
    """Names of the workloads that run in it, or may do so yet."""
    asking = pool.cluster.workloads.filter(deleted_at=None, spec_json__nodePools__isnull=False)
    rows = asking.exclude(phase__in=TERMINAL).order_by("name")
    named = rows.values_list("name", "spec_json__nodePools")
    return [name for name, pools in named if pool.name in pools]


def _save(pool: NodePool, by: User, label_key: str, label_value: str) -> NodePool:
    _check(by)
    if pool.name == DEFAULT_POOL:
        raise ValidationError({"name": DEFAULT_NAME})
    pool.label_key, pool.label_value = label_key, label_value
    pool.full_clean()
    with transaction.atomic():
        pool.save()
        nodes.sort(pool.cluster)
        if not pool.nodes.exists():  # their labels may be newer than the last look at them
            services.ask(pool.cluster)
    return pool


def _check(by: User) -> None:
    if not by.is_administrator:
        raise PermissionDenied("Node pools are for administrators to manage.")
