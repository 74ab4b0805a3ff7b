"""Workloads of which nothing new is said are looked at again. No cluster."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import cast
from uuid import uuid4

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.watch.rechecks import FIRST_SECONDS, LONGEST_SECONDS, RecheckSchedule
from engines.kubernetes.watch.watcher import POD, Watcher
from tests.engines.kubernetes.versions import JOBS, UID, job, pod

ONE = uuid4()


def looks(schedule: RecheckSchedule, until: float) -> Iterator[float]:
    """When it looks again, second by second."""
    for second in range(int(until)):
        if schedule.due_workloads(float(second)):
            yield second


def test_pauses_between_two_looks_grow_up_to_a_limit() -> None:
    schedule = RecheckSchedule()
    schedule.record_judgment(ONE, waits=True, now=0.0)
    times = list(looks(schedule, 2000))
    gaps = [late - early for early, late in pairwise(times)]
    assert times[0] == FIRST_SECONDS
    assert gaps == sorted(gaps)
    assert gaps[0] == FIRST_SECONDS * 2
    assert gaps[-1] == LONGEST_SECONDS


def test_a_change_begins_the_silence_anew() -> None:
    schedule = RecheckSchedule()
    schedule.record_judgment(ONE, waits=True, now=0.0)
    schedule.reset(ONE)
    schedule.record_judgment(ONE, waits=True, now=10.0)
    assert list(looks(schedule, 30)) == [10 + FIRST_SECONDS]


def test_a_workload_that_runs_is_left_in_peace() -> None:
    schedule = RecheckSchedule()
    schedule.record_judgment(ONE, waits=True, now=0.0)
    schedule.record_judgment(ONE, waits=False, now=1.0)
    assert list(looks(schedule, 100)) == []


@pytest.fixture
def watcher() -> Watcher:
    """A job with a pod, made just now, of which no scheduler says anything."""
    watcher = Watcher(cast(Api, None), lambda uid, snapshot: None)
    first = pod(11)
    del first["spec"]["nodeName"]
    first["metadata"]["labels"][WORKLOAD] = str(UID)
    first["metadata"]["creationTimestamp"] = datetime.now(UTC).isoformat()
    watcher.take_change(JOBS, "ADDED", job(10))
    watcher.take_change(POD, "ADDED", first)
    return watcher


def test_a_pod_without_a_scheduler_gets_a_cause_after_a_while(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = watcher._report_changes([UID])
    assert first.cause is None
    monkeypatch.setattr("engines.kubernetes.watch.rechecks.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("engines.kubernetes.status.causes.lifecycle.SCHEDULER_SECONDS", 0.0)
    watcher._rechecks.reset(UID)
    assert list(watcher._report_changes([UID])) == [], "it is no news yet"
    assert list(watcher.silent_workloads()) == [UID]
    (second,) = watcher._report_changes([UID])
    assert second.cause
    assert second.cause.title == "The scheduler default-scheduler does not answer"
    assert second.sequence > first.sequence
    assert second.message == f"worker-0 (rank 0): {second.cause.title}"
