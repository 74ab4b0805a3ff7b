"""Maintain KAI's queues: in each node pool one for each project below its department's, by which
KAI shares GPUs.

KAI treats a missing limit as zero, so every queue states all of its bounds. Only fields that
Trainyard sets are compared and written; others stay the administrator's.
"""

from collections.abc import Iterable
from typing import Any

from engines.base import EngineRefused, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import KAI_GROUP
from engines.kubernetes.labels import (
    INSTALLATION,
    QUEUES_OF,
    installation_labels,
    is_marked_by_another,
)
from engines.kubernetes.names import department_queue, project_queue, queue_label_value
from engines.queues import Queue, Wanted
from spec.parts.scheduling import DEFAULT_POOL

API = f"{KAI_GROUP}/v2"
QUEUES = f"/apis/{API}/queues"
UNBOUND = -1
# KAI counts CPU in millicores and memory in MB
MILLI = 1000
MEGA = 1_000_000
TAKEN = (
    "The queue {0} belongs to another Trainyard, which uses the same namespace prefix on this "
    "cluster. Give this cluster another prefix. If that Trainyard no longer exists, release the "
    f"queue: kubectl label queues.scheduling.run.ai {{0}} {INSTALLATION}-"
)
MOST_REFUSED = 3  # the rest would be refused for the same reason


def manifests(wanted: Iterable[Queue], prefix: str, installation: str = "") -> list[Manifest]:
    """The queues' manifests, departments first: KAI requires the parent to exist."""
    ordered = sorted(wanted, key=lambda it: bool(it.department))
    return [manifest(queue, prefix, installation) for queue in ordered]


def manifest(queue: Queue, prefix: str, installation: str = "") -> Manifest:
    pool = queue.pool
    parent: Manifest = {}
    name = department_queue(queue.name, prefix, pool)
    if queue.department:
        parent = {"parentQueue": department_queue(queue.department, prefix, pool)}
        name = project_queue(queue.name, prefix, pool)
    priority = {} if queue.priority is None else {"priority": queue.priority}
    return {
        "apiVersion": API,
        "kind": "Queue",
        "metadata": {
            "name": name,
            "labels": {QUEUES_OF: queue_label_value(prefix)} | installation_labels(installation),
        },
        "spec": {
            "displayName": queue.name if pool == DEFAULT_POOL else f"{queue.name} in {pool}",
            **parent,
            **priority,
            "resources": {
                "gpu": bounds(queue.gpus, queue.weight, most=queue.gpu_limit),
                "cpu": bounds(queue.cpu, queue.weight, MILLI),
                "memory": bounds(queue.memory, queue.weight, 1 / MEGA),
            },
        },
    }


def bounds(
    quota: float | None, weight: float, unit: float = 1, *, most: float | None = None
) -> Manifest:
    """The bounds of a resource. ``most`` is its limit where it may exceed the quota."""
    deserved = UNBOUND if quota is None else _number(quota * unit)
    limit = deserved
    if weight:
        limit = UNBOUND if most is None else _number(most * unit)
    return {"quota": deserved, "limit": limit, "overQuotaWeight": _number(weight)}


def update_queues(api: Api, prefix: str, wanted: Wanted, *, installation: str = "") -> None:
    """Create and update queues that differ, and delete ours that are no longer wanted. Queues of
    another Trainyard with the same prefix are left alone, and so are unmarked ones that are not
    wanted.

    ``wanted`` is called after the cluster was read, so that it includes a queue that another
    process created meanwhile. ``EngineRefused`` with the first refusal.
    """
    selector = f"{QUEUES_OF}={queue_label_value(prefix)}"
    present = {it["metadata"]["name"]: it for it in api.all_items(QUEUES, labelSelector=selector)}
    wished = {it["metadata"]["name"]: it for it in manifests(wanted(), prefix, installation)}
    refused: list[EngineRefused] = []
    for name, item in wished.items():
        before = present.get(name)
        if before and is_marked_by_another(before, installation):
            refused.append(EngineRefused(TAKEN.format(name)))
            continue
        if before and _contains(before["spec"], item["spec"]) and _is_marked(before, installation):
            continue
        try:
            api.apply(f"{QUEUES}/{name}", item)
        except EngineRefused as error:
            refused.append(error)
            if len(refused) == MOST_REFUSED:
                break
    if refused:
        raise refused[0]
    for name in _removable_queues(present, wished):
        if _is_marked(present[name], installation):
            api.delete(f"{QUEUES}/{name}")


def _is_marked(queue: Manifest, installation: str) -> bool:
    return (
        installation_labels(installation).items() <= (queue["metadata"].get("labels") or {}).items()
    )


def _removable_queues(present: dict[str, Manifest], wished: dict[str, Manifest]) -> list[str]:
    """Our queues that are no longer wanted. KAI deletes no queue with children, so a department's
    goes one round after its last project's."""
    parents = {it["spec"].get("parentQueue") for it in present.values()}
    return [name for name in present if name not in wished and name not in parents]


def _contains(present: Any, wished: Any) -> bool:
    """Whether ``present`` contains everything in ``wished``, whatever else it has."""
    if isinstance(wished, dict) and isinstance(present, dict):
        return all(
            key in present and _contains(present[key], value) for key, value in wished.items()
        )
    return bool(present == wished)


def _number(value: float) -> float:
    """An integer if possible, because the server returns no other for it."""
    rounded = round(value, 3)
    return int(rounded) if rounded == int(rounded) else rounded
