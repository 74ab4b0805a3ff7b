"""Read what a cluster reported at its last check from the JSON in its row.

A row may have been written by another version of Trainyard. Parts that cannot be read are left out,
and the next check writes them again.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from engines.base import Capabilities, Claim, FrameworkSupport
from engines.findings import Finding, Level
from engines.local_queues import LocalQueue, ResourceQuota
from engines.nodes import Gpu
from engines.partitions import BillingAccount, JobLimits, NodeShape, Partition, ServiceLevel
from spec.framework import Framework


def capabilities_of(data: Any) -> Capabilities | None:
    """Return the capabilities in the JSON; ``None`` if they cannot be read."""
    try:
        frameworks = tuple(
            FrameworkSupport(**{**item, "framework": Framework(item["framework"])})
            for item in data.get("frameworks", [])
        )
        return Capabilities(
            frameworks=frameworks,
            queues=data.get("queues", False),
            schedulers=tuple(data.get("schedulers", ())),
            storage_classes=tuple(data.get("storage_classes", ())),
            default_storage_class=data.get("default_storage_class", ""),
            priority_classes=tuple(data.get("priority_classes", ())),
            terminal=data.get("terminal", False),
            quotas=data.get("quotas", False),
            semi_preemptible=data.get("semi_preemptible", False),
            topologies=_names(data.get("topologies")),
            node_ports=tuple(data.get("node_ports", ())),
            partitions=tuple(_partition(row) for row in data.get("partitions", ())),
            claims=_claims(data.get("claims")),
            config_maps=_names(data.get("config_maps")),
            accounts=tuple(_account(row) for row in data.get("accounts", ())),
            qos=tuple(ServiceLevel(row["name"], _limits(row)) for row in data.get("qos", ())),
            containers=data.get("containers", ""),
            kueue=data.get("kueue", ""),
            local_queues=_local_queues(data.get("local_queues")),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _claims(rows: list[dict[str, Any]] | None) -> tuple[Claim, ...] | None:
    return None if rows is None else tuple(Claim(**row) for row in rows)


def _local_queues(rows: list[dict[str, Any]] | None) -> tuple[LocalQueue, ...] | None:
    return None if rows is None else tuple(_local_queue(row) for row in rows)


def _local_queue(row: dict[str, Any]) -> LocalQueue:
    quotas = row["quotas"]
    known = None if quotas is None else tuple(ResourceQuota(**quota) for quota in quotas)
    return LocalQueue(**{**row, "quotas": known})


def _partition(row: dict[str, Any]) -> Partition:
    shapes = row["nodes"]
    accounts = row["accounts"]
    nodes = None if shapes is None else tuple(_shape(it) for it in shapes)
    names: dict[str, Any] = {"accounts": _names(accounts), "qos": _names(row.get("qos"))}
    denied = {key: tuple(row.get(key, ())) for key in ("denied_accounts", "denied_qos")}
    return Partition(**{**row, **names, **denied, "nodes": nodes})


def _account(row: dict[str, Any]) -> BillingAccount:
    return BillingAccount(**{**row, "qos": tuple(row.get("qos", ())), "most": _limits(row)})


def _limits(row: dict[str, Any]) -> JobLimits:
    return JobLimits(**row.get("most", {}))


def _shape(row: dict[str, Any]) -> NodeShape:
    return NodeShape(**{**row, "features": tuple(row["features"])})


def _names(listed: list[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def findings_of(rows: Iterable[dict[str, Any]]) -> tuple[Finding, ...]:
    return tuple(_findings_of(rows))


def _findings_of(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        with suppress(KeyError, TypeError, ValueError):
            yield Finding(**{**row, "level": Level(row["level"])})


def gpus_of(rows: Iterable[dict[str, Any]]) -> tuple[Gpu, ...]:
    try:
        return tuple(Gpu(**row) for row in rows)
    except TypeError:
        return ()
