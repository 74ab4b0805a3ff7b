"""What the cluster itself says about workloads: its Events, as far as they tell something. Pure."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from engines.base import ClusterEvent, Manifest
from engines.kubernetes.status.conditions import moment

EVENTS = "/api/v1/events"
#: A pod had to go: kube-scheduler says the first of it, KAI the second of its group.
GAVE_WAY = frozenset({"Preempted", "Evict"})
#: An autoscaler adds nodes for a pod, as cluster-autoscaler and Karpenter say it, or adds none.
NODES_ADDED = frozenset({"TriggeredScaleUp", "Nominated"})
NO_NODES_ADDED = frozenset({"NotTriggerScaleUp"})
#: Normal events that say why a workload is where it is.
EXPLAINING = GAVE_WAY | NODES_ADDED | NO_NODES_ADDED
#: Normal events worth a line. The server leaves out what it can before it sends anything.
TELLING = EXPLAINING | {"Pulling", "Pipelined", "NotReady"}
QUIET = (
    *("Scheduled", "Pulled", "Created", "Started"),
    *("SuccessfulCreate", "SuccessfulCreatePod", "SuccessfulCreateService"),
    *("MPIJobCreated", "MPIJobRunning"),
)
SELECTOR = ",".join(["involvedObject.kind!=Node", *(f"reason!={reason}" for reason in QUIET)])
LONGEST = 2000  # characters of a message
MOST_EARLY = 500
NUMBER = re.compile(r"\d+")
WINNER = re.compile(
    r"(?P<by>preempted by )(?P<rank>higher priority )?(?:(?:workload|pod) )?"
    r"(?P<namespace>[\w.-]+)/[\w.-]+\w",
    re.IGNORECASE,
)


def is_telling(event: Manifest) -> bool:
    return event.get("type") == "Warning" or event.get("reason") in TELLING


def explains(event: Manifest) -> bool:
    """Whether it may be the cause of what a workload waits for."""
    return event.get("type") == "Warning" or event.get("reason") in EXPLAINING


def key_of(event: Manifest) -> str:
    """The object that it is about, as :func:`keys_of` names it."""
    about = event["involvedObject"]
    if about.get("kind") == "PersistentVolumeClaim":
        return f"{about.get('namespace', '')}/{about.get('name', '')}"
    return str(about.get("uid", ""))


def keys_of(item: Manifest) -> Iterator[str]:
    """An object, and the claims that it mounts where it is a pod: nobody watches those, so they
    have their names alone."""
    meta = item["metadata"]
    yield str(meta["uid"])
    for volume in item.get("spec", {}).get("volumes") or ():
        if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield f"{meta.get('namespace', '')}/{claim}"


def by_object(events: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    grouped: dict[str, list[Manifest]] = {}
    for one in events:
        grouped.setdefault(key_of(one), []).append(one)
    return grouped


def said_of_pod(pod: Manifest, events: Mapping[str, list[Manifest]]) -> Iterator[Manifest]:
    for key in keys_of(pod):
        yield from events.get(key, ())


def cluster_event(event: Manifest, workload_id: UUID) -> ClusterEvent:
    about = event["involvedObject"]
    return ClusterEvent(
        workload_id=workload_id,
        key=_key(event),
        at=said_at(event),
        count=int(event.get("count") or (event.get("series") or {}).get("count") or 1),
        about=f"{about.get('kind', '')} {about.get('name', '')}".strip(),
        reason=event.get("reason", ""),
        message=without_strangers(str(event.get("message") or ""), namespace_of(event))[:LONGEST],
    )


def namespace_of(event: Manifest) -> str:
    return str(event["involvedObject"].get("namespace", ""))


def without_strangers(said: str, namespace: str) -> str:
    """Who reads why it had to go may see its namespace, and perhaps no other: what it went for is
    named where that is in the same one."""

    def name(match: re.Match[str]) -> str:
        if match["namespace"] == namespace:
            return match[0]
        return f"{match['by']}a {match['rank'] or ''}workload of another project"

    return WINNER.sub(name, said)


def _key(event: Manifest) -> str:
    """The same for one object and what is said of it, whatever the numbers in it."""
    said = NUMBER.sub("#", str(event.get("message") or ""))
    parts = (event["involvedObject"].get("uid", ""), event.get("reason", ""), said)
    return sha256("\0".join(parts).encode()).hexdigest()[:40]


def said_at(event: Manifest) -> datetime:
    """When it happened last. Old and new writers of events keep that in different places."""
    series = event.get("series") or {}
    text = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )
    return moment(text) if text else datetime.now(UTC)


class Early:
    """Events about objects that are not known yet: their own watch may bring those later."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Manifest]] = OrderedDict()

    def keep(self, event: Manifest) -> None:
        key = key_of(event)
        self._kept.setdefault(key, []).append(event)
        if len(self._kept) > MOST_EARLY or len(self._kept[key]) > MOST_EARLY:
            self._kept.popitem(last=False)

    def take(self, key: str) -> list[Manifest]:
        return self._kept.pop(key, [])
