"""A job that was just made is told with the first thing there is to say of it. No cluster."""

from typing import cast
from uuid import UUID

import pytest

from engines.kubernetes import watching
from engines.kubernetes.api import Api
from engines.kubernetes.feed import Source
from engines.kubernetes.kinds import PYTORCH, WORKLOAD
from engines.kubernetes.watching import POD, Watcher
from tests.engines.kubernetes.test_order import JOB, job, pod

UID = UUID(JOB["metadata"]["labels"][WORKLOAD])
JOBS = Source(PYTORCH.everywhere, PYTORCH)


@pytest.fixture
def watcher() -> Watcher:
    """It has just seen a new job."""
    made = Watcher(cast(Api, None), lambda uid, known: None)
    made._take(JOBS, "ADDED", job(10))
    return made


def test_nothing_is_told_of_a_job_that_says_nothing(watcher: Watcher) -> None:
    assert list(watcher._ripe([UID])) == []
    assert list(watcher._ripe([])) == []


def test_its_first_pod_tells_it(watcher: Watcher) -> None:
    first = pod(11)
    first["metadata"]["labels"][WORKLOAD] = str(UID)
    assert list(watcher._ripe([UID])) == []
    watcher._take(POD, "ADDED", first)
    assert list(watcher._ripe([UID])) == [UID]


def test_it_is_told_when_no_pod_comes(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "HOLD_SECONDS", 0.0)
    assert list(watcher._ripe([UID])) == [UID]
    assert list(watcher._ripe([])) == []


def test_its_end_is_told_at_once(watcher: Watcher) -> None:
    assert list(watcher._ripe([UID])) == []
    watcher._take(JOBS, "DELETED", job(12))
    assert list(watcher._ripe([UID])) == [UID]
    assert watcher._held == {}
