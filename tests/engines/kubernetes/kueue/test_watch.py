"""Kueue's Workloads in the watch: each is found by its job, in whatever order both appear."""

from collections.abc import Iterable
from typing import ClassVar, cast

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.kueue.names import JOB_UID
from engines.kubernetes.kueue.places import QueuePlaces
from engines.kubernetes.kueue.workload import QueuedJob
from engines.kubernetes.watch import watcher as watching
from engines.kubernetes.watch.watcher import EVENT, Watcher, queue_collection
from tests.engines.kubernetes.kueue.queue_entries import UID, WAITS, entry, job
from tests.engines.kubernetes.versions import JOBS

QUEUE = queue_collection("v1beta2")
NAME = entry()["metadata"]["name"]


@pytest.fixture
def watcher() -> Watcher:
    return Watcher(cast(Api, None), lambda uid, known: None)


def test_a_workload_of_kueue_is_found_by_its_job(watcher: Watcher) -> None:
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    assert watcher.take_change(QUEUE, "ADDED", entry()) == UID
    assert NAME in watcher.snapshots[UID].queue_entries
    watcher.take_change(QUEUE, "DELETED", entry())
    assert not watcher.snapshots[UID].queue_entries


def test_it_is_found_by_its_owner_without_the_label(watcher: Watcher) -> None:
    one = entry()
    del one["metadata"]["labels"][JOB_UID]
    one["metadata"]["ownerReferences"] = [{"uid": "job"}]
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    assert watcher.take_change(QUEUE, "ADDED", one) == UID


def test_one_that_comes_before_its_job_is_kept_for_it(watcher: Watcher) -> None:
    assert watcher.take_change(QUEUE, "ADDED", entry()) is None
    assert watcher.take_change(QUEUE, "MODIFIED", entry(active=False)) is None
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    assert watcher.snapshots[UID].queue_entries[NAME]["spec"]["active"] is False


def test_one_that_is_gone_before_its_job_comes_is_forgotten(watcher: Watcher) -> None:
    watcher.take_change(QUEUE, "ADDED", entry())
    watcher.take_change(QUEUE, "DELETED", entry())
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    assert not watcher.snapshots[UID].queue_entries


def test_of_others_only_the_last_ones_are_kept(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_EARLY_ENTRIES", 2)
    for number in range(4):
        watcher.take_change(QUEUE, "ADDED", entry(job=f"foreign-{number}"))
    assert list(watcher._early_entries) == ["foreign-2", "foreign-3"]


def test_a_new_job_is_reported_with_what_kueue_says(watcher: Watcher) -> None:
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    assert list(watcher.ready_workloads([UID])) == []
    watcher.take_change(QUEUE, "ADDED", entry())
    assert list(watcher.ready_workloads([UID])) == [UID]


@pytest.mark.parametrize(
    ("suspend", "generation", "is_outside"), [(False, 1, True), (True, 1, False), (False, 2, False)]
)
def test_a_job_that_kueue_does_not_manage_runs_outside_its_queue(
    watcher: Watcher, suspend: bool, generation: int, is_outside: bool
) -> None:
    watcher._has_kueue = True
    one = job(suspend=suspend)
    one["metadata"]["generation"] = generation
    watcher.take_change(JOBS, "ADDED", one)
    assert [event.reason for event in watcher.events] == ["NotQueued"] * is_outside


def test_what_kueue_says_about_its_workload_is_told(watcher: Watcher) -> None:
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    watcher.take_change(QUEUE, "ADDED", entry())
    for reason in ("QuotaReserved", "Admitted", "EvictedDueToPreempted", "PreemptedWorkload"):
        about = {"kind": "Workload", "name": NAME, "uid": entry()["metadata"]["uid"]}
        one = {"metadata": {"uid": reason}, "involvedObject": about, "reason": reason}
        watcher.take_change(EVENT, "ADDED", one | {"type": "Normal", "message": reason})
    told = [event.reason for event in watcher.events]
    assert told == ["QuotaReserved", "Admitted", "EvictedDueToPreempted"]


class Places:
    """Kueue's view of what waits, as :class:`QueuePlaces` reads it."""

    is_due = True
    known: ClassVar = {("team-a", NAME): 2}

    def read(self, waiting: Iterable[QueuedJob]) -> dict[tuple[str, str], int]:
        assert [queued.name for queued in waiting] == [NAME]
        return self.known


def test_a_new_place_in_the_queue_is_reported(watcher: Watcher) -> None:
    watcher._has_kueue = True
    watcher._places = cast(QueuePlaces, Places())
    watcher.take_change(JOBS, "ADDED", job(suspend=True))
    watcher.take_change(QUEUE, "ADDED", entry(WAITS))
    assert list(watcher._moved_in_queue()) == [UID]
    observation = watcher.snapshots[UID].observation
    assert observation
    assert observation.message.endswith("; 2nd in queue team")
    assert list(watcher._moved_in_queue()) == []
