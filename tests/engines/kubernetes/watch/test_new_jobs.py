"""A job that was just made is told with the first thing there is to say of it. No cluster."""

from collections.abc import Iterator
from typing import cast

import pytest

from engines.base import Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.watch.reflector import Changes
from engines.kubernetes.watch.watcher import POD, Watcher
from tests.engines.kubernetes.versions import JOBS, UID, job, pod


@pytest.fixture
def watcher() -> Watcher:
    """It has just seen a new job."""
    made = Watcher(cast(Api, None), lambda uid, known: None)
    made.take_change(JOBS, "ADDED", job(10))
    return made


def test_nothing_is_told_of_a_job_that_says_nothing(watcher: Watcher) -> None:
    assert list(watcher.ready_workloads([UID])) == []
    assert list(watcher.ready_workloads([])) == []


def test_the_first_pod_of_a_new_job_tells_it(watcher: Watcher) -> None:
    first = pod(11)
    first["metadata"]["labels"][WORKLOAD] = str(UID)
    assert list(watcher.ready_workloads([UID])) == []
    watcher.take_change(POD, "ADDED", first)
    assert list(watcher.ready_workloads([UID])) == [UID]


def test_a_new_job_without_pods_is_told_after_a_while(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.watch.watcher.HOLD_SECONDS", 0.0)
    assert list(watcher.ready_workloads([UID])) == [UID]
    assert list(watcher.ready_workloads([])) == []


def test_the_deletion_of_a_new_job_is_told_at_once(watcher: Watcher) -> None:
    assert list(watcher.ready_workloads([UID])) == []
    watcher.take_change(JOBS, "DELETED", job(12))
    assert list(watcher.ready_workloads([UID])) == [UID]
    assert watcher.hold_until == {}


def test_only_a_watch_that_is_current_says_which_pods_there_are(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = KubernetesEngine(cast(Api, None))
    assert engine._watched_pods() is None
    engine._watcher = watcher
    assert engine._watched_pods() is None, "it has yet to list"
    monkeypatch.setattr("engines.kubernetes.watch.watcher.PagedList", lambda api, source: Listed())
    monkeypatch.setattr("engines.kubernetes.watch.watcher.Reflector", lambda *told, **how: None)
    watcher.list_all([POD], Changes())
    (there,) = engine._watched_pods() or []
    assert there["metadata"]["name"] == pod(11)["metadata"]["name"]
    monkeypatch.setattr("engines.kubernetes.watch.watcher.CURRENT_SECONDS", 0.0)
    assert engine._watched_pods() is None, "it rested, and others had the turns"


class Listed:
    resource_version = "20"

    def __iter__(self) -> Iterator[Manifest]:
        one = pod(11)
        one["metadata"]["labels"][WORKLOAD] = str(UID)
        yield one
