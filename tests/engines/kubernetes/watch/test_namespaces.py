"""An end that comes with the deletion of its namespace says so. No cluster."""

from typing import Any, cast

import pytest

from engines.base import Observation
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.watch.namespaces import Namespaces
from engines.kubernetes.watch.watcher import POD, Watcher
from spec.phases import Phase, Reason
from tests.engines.kubernetes.versions import AT, JOBS, UID, job, pod

COMPLETE = [{"type": "Succeeded", "status": "True", "lastTransitionTime": AT}]


def end_in(monkeypatch: pytest.MonkeyPatch, *pods: dict[str, Any], ending: bool) -> Observation:
    """Return what is reported of a complete job with these pods."""
    monkeypatch.setattr(Namespaces, "is_ending", lambda self, space: ending)
    watcher = Watcher(cast(Api, None), lambda uid, known: None)
    done = job(10) | {"status": {"conditions": COMPLETE}}
    done["metadata"]["namespace"] = "team-a"
    for one in pods:
        one["metadata"]["labels"][WORKLOAD] = str(UID)
        watcher.take_change(POD, "ADDED", one)
    watcher.take_change(JOBS, "ADDED", done)
    (seen,) = watcher._report_changes([UID])
    return seen


def succeeded() -> dict[str, Any]:
    container = {"name": "pytorch", "state": {"terminated": {"exitCode": 0, "finishedAt": AT}}}
    return pod(11) | {"status": {"phase": "Succeeded", "containerStatuses": [container]}}


def test_a_job_whose_pods_are_gone_with_their_namespace_has_not_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = end_in(monkeypatch, ending=True)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.LOST)
    assert seen.message == "Its namespace team-a was deleted."


def test_a_job_that_completed_before_stays_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert end_in(monkeypatch, succeeded(), ending=True).phase is Phase.COMPLETED
    assert end_in(monkeypatch, ending=False).phase is Phase.COMPLETED
