"""A job that was just made is told with the first thing there is to say of it. No cluster."""

from collections.abc import Iterator
from queue import SimpleQueue
from typing import cast
from uuid import UUID

import pytest

from engines.base import Manifest
from engines.kubernetes import watching
from engines.kubernetes.api import Api
from engines.kubernetes.engine import KubernetesEngine
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


def test_only_a_watch_that_is_current_says_which_pods_there_are(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = KubernetesEngine(cast(Api, None))
    assert engine._pods() is None
    engine._watcher = watcher
    assert engine._pods() is None, "it has yet to list"
    monkeypatch.setattr(watching, "Listing", lambda api, source: Listed())
    monkeypatch.setattr(watching, "Feed", lambda *told, **how: None)
    watcher._list([POD], SimpleQueue())
    (there,) = engine._pods() or []
    assert there["metadata"]["name"] == pod(11)["metadata"]["name"]
    monkeypatch.setattr(watching, "CURRENT_SECONDS", 0.0)
    assert engine._pods() is None, "it rested, and others had the turns"


class Listed:
    since = "20"

    def __iter__(self) -> Iterator[Manifest]:
        one = pod(11)
        one["metadata"]["labels"][WORKLOAD] = str(UID)
        yield one
