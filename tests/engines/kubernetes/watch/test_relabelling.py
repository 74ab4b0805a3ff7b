"""A job that loses the label by which it is found runs on, and is not called lost. No cluster."""

from collections.abc import Callable
from typing import cast

import pytest

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.labels import PROJECT, WORKLOAD
from engines.kubernetes.watch.lookup import Lookup
from engines.kubernetes.watch.watcher import Watcher
from tests.engines.kubernetes.versions import JOBS, UID, job


class Server:
    """An API server with this job, or none."""

    def __init__(self, present: Manifest | None) -> None:
        self.present = present
        self.changes: list[Manifest] = []

    def find(self, path: str) -> Manifest | None:
        return self.present

    def merge(self, path: str, change: Manifest) -> None:
        self.changes.append(change)


class Restoring:
    def __init__(self, answer: Callable[[], bool]) -> None:
        self.answer = answer
        self.jobs = list[Manifest]()

    def __call__(self, kind: JobKind, before: Manifest) -> bool:
        self.jobs.append(before)
        return self.answer()


def watching(answer: Callable[[], bool]) -> tuple[Watcher, Restoring]:
    restoring = Restoring(answer)
    watcher = Watcher(cast(Api, Server(None)), lambda uid, snapshot: None, restore=restoring)
    watcher.take_change(JOBS, "ADDED", job(10))
    return watcher, restoring


def relabelled(label: str) -> Manifest:
    other = job(11)
    other["metadata"]["labels"] = {WORKLOAD: label} if label else {}
    return other


@pytest.mark.parametrize("label", ["", "no id", "0b9c3c9e-7d3f-4a7e-9a51-2f6f0f2f8f10"])
@pytest.mark.parametrize("what", ["MODIFIED", "DELETED"])
def test_a_job_without_its_label_gets_it_back(what: str, label: str) -> None:
    watcher, restoring = watching(lambda: True)
    assert watcher.take_change(JOBS, what, relabelled(label)) is None
    assert restoring.jobs == [job(10)]
    snapshot = watcher.snapshots[UID]
    assert snapshot.job, "nothing changed but the label"
    assert set(watcher.snapshots) == {UID}


def test_a_job_that_lost_its_label_is_looked_for() -> None:
    watcher, restoring = watching(lambda: True)
    assert watcher.take_change(JOBS, "DELETED", job(11)) is None
    assert len(restoring.jobs) == 1


def away() -> bool:
    raise EngineUnavailable("no answer")


@pytest.mark.parametrize("answer", [lambda: False, away])
def test_a_job_that_is_gone_is_told_as_gone(answer: Callable[[], bool]) -> None:
    watcher, restoring = watching(answer)
    assert watcher.take_change(JOBS, "DELETED", job(11)) == UID
    assert len(restoring.jobs) == 1
    (told,) = watcher._report_changes([UID])
    assert told.phase is None


def test_a_job_whose_deletion_is_under_way_is_not_looked_for() -> None:
    watcher, restoring = watching(lambda: True)
    going = job(11)
    going["metadata"]["deletionTimestamp"] = going["metadata"]["creationTimestamp"]
    assert watcher.take_change(JOBS, "DELETED", going) == UID
    assert restoring.jobs == []


def named(uid: str = "job") -> Manifest:
    one = job(10)
    one["metadata"] |= {"uid": uid, "name": "demo", "namespace": "trainyard-vision"}
    one["metadata"]["labels"][PROJECT] = "vision"
    return one


def restored(server: Server) -> bool:
    assert JOBS.kind
    return Lookup(cast(Api, server), "trainyard-").restore_labels(JOBS.kind, named())


def test_labels_are_put_back_on_the_same_job_alone() -> None:
    server = Server(named())
    assert restored(server)
    labels = {WORKLOAD: str(UID), PROJECT: "vision"}
    assert server.changes == [{"metadata": {"labels": labels}}]
    for present in (None, named("another")):
        server = Server(present)
        assert not restored(server)
        assert server.changes == []
