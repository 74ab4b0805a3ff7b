"""What the cluster itself says about workloads: its Events, as far as they tell something. Pure."""

import re
from collections import OrderedDict
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from engines.base import ClusterEvent, Manifest
from engines.kubernetes.pods import moment

EVENTS = "/api/v1/events"
#: A pod had to go: kube-scheduler says the first of it, KAI the second of its group.
GAVE_WAY = frozenset({"Preempted", "Evict"})
#: Normal events worth a line. The server leaves out what it can before it sends anything.
TELLING = GAVE_WAY | {"Pulling", "Pipelined", "TriggeredScaleUp", "NotReady"}
QUIET = ("Scheduled", "Pulled", "Created", "Started", "SuccessfulCreatePod", "SuccessfulCreate")
SELECTOR = ",".join(["involvedObject.kind!=Node", *(f"reason!={reason}" for reason in QUIET)])
LONGEST = 2000  # characters of a message
MOST_EARLY = 500
NUMBER = re.compile(r"\d+")


def is_telling(event: Manifest) -> bool:
    return event.get("type") == "Warning" or event.get("reason") in TELLING


def told(event: Manifest, workload_id: UUID) -> ClusterEvent:
    about = event["involvedObject"]
    return ClusterEvent(
        workload_id=workload_id,
        key=_key(event),
        at=said_at(event),
        count=int(event.get("count") or (event.get("series") or {}).get("count") or 1),
        about=f"{about.get('kind', '')} {about.get('name', '')}".strip(),
        reason=event.get("reason", ""),
        message=str(event.get("message") or "")[:LONGEST],
    )


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
        uid = event["involvedObject"].get("uid", "")
        self._kept.setdefault(uid, []).append(event)
        if len(self._kept) > MOST_EARLY or len(self._kept[uid]) > MOST_EARLY:
            self._kept.popitem(last=False)

    def take(self, uid: str) -> list[Manifest]:
        return self._kept.pop(uid, [])
