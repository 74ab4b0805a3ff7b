"""A scheduler that places pods of other workloads is not said to be down. No cluster."""

from typing import Any, cast
from uuid import uuid4

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.watch.watcher import POD, Watcher
from spec.problems.causes import CauseKind
from tests.engines.kubernetes.objects import START
from tests.engines.kubernetes.versions import JOBS, UID, job, pod

CREATED = {"creationTimestamp": START.isoformat()}
EARLIER = "2025-12-31T23:59:00+00:00"
LATER = "2026-01-01T00:01:00+00:00"


def placed_pod(at: str, scheduler: str) -> dict[str, Any]:
    """Return a pod of another workload that this scheduler placed at this time."""
    made = pod(12)
    made["metadata"] |= {"uid": "other", "name": "other", "labels": {WORKLOAD: str(uuid4())}}
    made["spec"] = {"nodeName": "n1", "schedulerName": scheduler}
    placed = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
    made["status"] = {"phase": "Running", "conditions": [placed]}
    return made


@pytest.mark.parametrize(
    ("at", "scheduler", "kind"),
    [
        (LATER, "default-scheduler", CauseKind.OTHER),
        (EARLIER, "default-scheduler", CauseKind.OPERATOR),
        (LATER, "kai-scheduler", CauseKind.OPERATOR),
    ],
)
def test_only_a_scheduler_that_places_nothing_since_is_accused(
    at: str, scheduler: str, kind: CauseKind
) -> None:
    watcher = Watcher(cast(Api, None), lambda uid, known: None)
    watcher.take_change(JOBS, "ADDED", job(10))
    watcher.take_change(POD, "ADDED", placed_pod(at, scheduler))
    unreported = pod(11)
    unreported["metadata"]["labels"][WORKLOAD] = str(UID)
    unreported["metadata"] |= CREATED
    unreported["spec"] = {}
    unreported["status"] = {"phase": "Pending"}
    watcher.take_change(POD, "ADDED", unreported)
    seen = watcher.snapshots[UID].observation
    assert seen
    assert seen.cause
    assert seen.cause.kind is kind
