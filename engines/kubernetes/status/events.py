"""The cluster's Events about workloads, as far as they are worth telling. Pure."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from engines.base import ClusterEvent, Manifest
from engines.kubernetes.status.conditions import parse_time

EVENTS = "/api/v1/events"
#: A pod was preempted: kube-scheduler reports the first for the pod, KAI the second for its group.
PREEMPTED = frozenset({"Preempted", "Evict"})
#: An autoscaler adds nodes for a pod, as reported by cluster-autoscaler and Karpenter, or does not.
NODES_ADDED = frozenset({"TriggeredScaleUp", "Nominated"})
NO_NODES_ADDED = frozenset({"NotTriggerScaleUp"})
#: A provisioner was asked to create the volume of a claim, or has begun to.
PROVISIONING = frozenset({"ExternalProvisioning", "Provisioning"})
#: Normal events that may explain what a workload waits for.
EXPLAINING = PREEMPTED | NODES_ADDED | NO_NODES_ADDED | PROVISIONING
#: Kueue reserved a job's quota, and let it start. Of evictions it writes ``EvictedDueTo…``.
ADMITTED_TO_QUEUE = frozenset({"QuotaReserved", "Admitted"})
EVICTED_FROM_QUEUE = "EvictedDueTo"
#: Normal events worth a line in the history. ``SELECTOR`` has the server leave out most others.
TELLING = EXPLAINING | ADMITTED_TO_QUEUE | {"Pulling", "Pipelined", "StaleJob"}
QUIET = (
    *("Scheduled", "Pulled", "Created", "Started"),
    *("SuccessfulCreate", "SuccessfulCreatePod", "SuccessfulCreateService"),
    *("MPIJobCreated", "MPIJobRunning"),
)
SELECTOR = ",".join(["involvedObject.kind!=Node", *(f"reason!={reason}" for reason in QUIET)])
#: A controller lost a race with another writer, and tries again.
LOST_RACE = re.compile(r"the object has been modified; please apply your changes")
#: KAI's pod grouper reacts to several pods of a group at the same time.
GROUPER = "PodGrouperWarning"
GROUPER_RACE = re.compile(r'^Pod ".+" not found$|already exists$')
LONGEST = 2000  # characters of a message
MOST_EARLY = 500
#: A number, or an id such as a container's.
VARYING = re.compile(r"[0-9a-f]{12,}|\d+")
PREEMPTOR = re.compile(
    r"(?P<by>preempted by )(?P<rank>higher priority )?(?:(?:workload|pod) )?"
    r"(?P<namespace>[\w.-]+)/[\w.-]+\w",
    re.IGNORECASE,
)
#: kube-scheduler names the pod that preempts by its uid (seen on 1.37), by its name before.
PREEMPTOR_UID = re.compile(
    r"(?P<by>preempted by )pod (?P<uid>[0-9a-f]{8}(?:-[0-9a-f]+){4})", re.IGNORECASE
)


def is_worth_telling(event: Manifest) -> bool:
    reason = str(event.get("reason", ""))
    if reason in TELLING or reason.startswith(EVICTED_FROM_QUEUE):
        return True
    return event.get("type") == "Warning" and not _is_harmless_race(event)


def _is_harmless_race(event: Manifest) -> bool:
    said = str(event.get("message") or "")
    if LOST_RACE.search(said):
        return True
    return event.get("reason") == GROUPER and bool(GROUPER_RACE.search(said))


def may_explain(event: Manifest) -> bool:
    """Whether the event may explain what a workload waits for."""
    return event.get("type") == "Warning" or event.get("reason") in EXPLAINING


def object_key(event: Manifest) -> str:
    """The object the event is about, as named by :func:`object_keys`."""
    about = event["involvedObject"]
    if about.get("kind") == "PersistentVolumeClaim":
        return f"{about.get('namespace', '')}/{about.get('name', '')}"
    return str(about.get("uid", ""))


def object_keys(item: Manifest) -> Iterator[str]:
    """Keys of an object: its uid, and, for a pod, the claims it mounts. Claims are not watched, so
    they only have names."""
    meta = item["metadata"]
    yield str(meta["uid"])
    for volume in item.get("spec", {}).get("volumes") or ():
        if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield f"{meta.get('namespace', '')}/{claim}"


def group_by_object(events: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    grouped: dict[str, list[Manifest]] = {}
    for one in events:
        grouped.setdefault(object_key(one), []).append(one)
    return grouped


def events_of_pod(pod: Manifest, events: Mapping[str, list[Manifest]]) -> Iterator[Manifest]:
    for key in object_keys(pod):
        yield from events.get(key, ())


def cluster_event(event: Manifest, workload_id: UUID) -> ClusterEvent:
    about = event["involvedObject"]
    return ClusterEvent(
        workload_id=workload_id,
        key=_event_key(event),
        at=event_time(event),
        count=int(event.get("count") or (event.get("series") or {}).get("count") or 1),
        about=f"{about.get('kind', '')} {about.get('name', '')}".strip(),
        reason=event.get("reason", ""),
        message=hide_other_projects(str(event.get("message") or ""), event_namespace(event))[
            :LONGEST
        ],
    )


def event_namespace(event: Manifest) -> str:
    return str(event["involvedObject"].get("namespace", ""))


def name_preemptor(event: Manifest, pod_name: Callable[[str], str]) -> Manifest:
    """The event with the pod that preempts by namespace and name, as earlier schedulers wrote it.
    ``pod_name`` returns these for a uid; empty if they are not known."""
    said = str(event.get("message") or "")
    named = PREEMPTOR_UID.search(said) if event.get("reason") in PREEMPTED else None
    name = pod_name(named["uid"]) if named else ""
    if not named or not name:
        return event
    return event | {"message": said.replace(named[0], f"{named['by']}{name}")}


def hide_other_projects(said: str, namespace: str) -> str:
    """Remove the names of other projects' workloads from a message about a preemption, because its
    reader may have no right to see other projects than that of ``namespace``. A pod's uid is
    removed, too."""

    def name(match: re.Match[str]) -> str:
        if match["namespace"] == namespace:
            return match[0]
        return f"{match['by']}a {match['rank'] or ''}workload of another project"

    return PREEMPTOR_UID.sub(r"\g<by>a pod of higher priority", PREEMPTOR.sub(name, said))


def _event_key(event: Manifest) -> str:
    """A key that is the same for repeated messages about an object, whatever the numbers and ids
    in them."""
    said = VARYING.sub("#", str(event.get("message") or ""))
    parts = (event["involvedObject"].get("uid", ""), event.get("reason", ""), said)
    return sha256("\0".join(parts).encode()).hexdigest()[:40]


def event_time(event: Manifest) -> datetime:
    """When it last happened. Old and new event writers store that in different places."""
    series = event.get("series") or {}
    text = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )
    return parse_time(text) if text else datetime.now(UTC)


class EarlyEvents:
    """Keeps events about objects that are not known yet, because each kind has its own watch."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, list[Manifest]] = OrderedDict()

    def keep(self, event: Manifest) -> None:
        key = object_key(event)
        self._events.setdefault(key, []).append(event)
        if len(self._events) > MOST_EARLY or len(self._events[key]) > MOST_EARLY:
            self._events.popitem(last=False)

    def take(self, key: str) -> list[Manifest]:
        return self._events.pop(key, [])
