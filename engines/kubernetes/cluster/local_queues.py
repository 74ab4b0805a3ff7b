"""Read Kueue's LocalQueues and the quotas of their ClusterQueues."""

from collections.abc import Iterator

from engines.base import EngineRefused, Manifest
from engines.kubernetes.amounts import parse_amount
from engines.kubernetes.client.api import Api
from engines.kubernetes.kueue.names import KUEUE
from engines.kubernetes.status.conditions import condition
from engines.local_queues import LocalQueue, ResourceQuota

MOST_QUEUES = 1000  # that are remembered
IS_ACTIVE = "Active"  # a condition of both kinds of queues
NOWHERE = "ClusterQueueDoesNotExist"  # reason of that condition
HOLDS = ("Hold", "HoldAndDrain")  # stop policies


def local_queues(api: Api, version: str, prefix: str) -> tuple[LocalQueue, ...] | None:
    """The LocalQueues of projects' namespaces, whose names start with ``prefix``. ``version`` is
    that of Kueue's API. ``None`` if we may not list them, or there are too many to remember."""
    path = f"/apis/{KUEUE}/{version}"
    try:
        items = [
            item
            for item in api.all_items(f"{path}/localqueues")
            if item["metadata"]["namespace"].startswith(prefix)
        ]
    except EngineRefused:
        return None
    if len(items) > MOST_QUEUES:
        return None
    cluster_queues = _cluster_queues(api, path) if items else {}
    return tuple(_local_queue(item, cluster_queues) for item in items)


def _cluster_queues(api: Api, path: str) -> dict[str, Manifest]:
    """The ClusterQueues by name; none if we may not list them."""
    try:
        return {item["metadata"]["name"]: item for item in api.all_items(f"{path}/clusterqueues")}
    except EngineRefused:
        return {}


def _local_queue(item: Manifest, cluster_queues: dict[str, Manifest]) -> LocalQueue:
    name = str(item["spec"].get("clusterQueue", ""))
    cluster_queue = cluster_queues.get(name)
    return LocalQueue(
        namespace=item["metadata"]["namespace"],
        name=item["metadata"]["name"],
        cluster_queue=name,
        why_inactive=_why_inactive(item, cluster_queue),
        quotas=tuple(_quotas(cluster_queue["spec"])) if cluster_queue else None,
    )


def _why_inactive(item: Manifest, cluster_queue: Manifest | None) -> str:
    """Why a queue starts nothing, in Kueue's words; those of its ClusterQueue say more."""
    if cluster_queue and (why := _inactivity(cluster_queue)):
        return f"ClusterQueue {cluster_queue['metadata']['name']}: {why}"
    if condition(item.get("status") or {}, IS_ACTIVE).get("reason") == NOWHERE:
        return f"there is no ClusterQueue {item['spec']['clusterQueue']}"
    if item["spec"].get("stopPolicy") in HOLDS:
        return f"its stopPolicy is {item['spec']['stopPolicy']}"
    return _inactivity(item)


def _inactivity(queue: Manifest) -> str:
    active = condition(queue.get("status") or {}, IS_ACTIVE)
    if active.get("status") != "False":
        return ""
    return str(active.get("message") or active.get("reason") or "it is not active")


def _quotas(spec: Manifest) -> Iterator[ResourceQuota]:
    """The quotas of a ClusterQueue, resource by resource."""
    borrows = bool(spec.get("cohortName") or spec.get("cohort"))
    flavors: dict[str, list[Manifest]] = {}
    for group in spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for resource in flavor.get("resources") or ():
                flavors.setdefault(resource["name"], []).append(resource)
    for name, quotas in flavors.items():
        most = [_most(quota, borrows=borrows) for quota in quotas]
        known = [amount for amount in most if amount is not None]
        unlimited = len(known) < len(most)
        yield ResourceQuota(
            resource=name,
            nominal=sum(_amount(quota["nominalQuota"]) for quota in quotas),
            most=None if unlimited else sum(known),
            most_of_role=None if unlimited else max(known),
        )


def _most(quota: Manifest, *, borrows: bool) -> float | None:
    """The most of a flavor that workloads can have; ``None`` if only its cohort limits them."""
    limit = quota.get("borrowingLimit")
    if not borrows:
        return _amount(quota["nominalQuota"])
    return None if limit is None else _amount(quota["nominalQuota"]) + _amount(limit)


def _amount(quantity: object) -> float:
    return float(parse_amount(str(quantity)))
