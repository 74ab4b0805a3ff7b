"""Observations grow from one to the next, in whatever order changes arrive. No cluster."""

from engines.base import Observation
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.watch.snapshot import Snapshot
from engines.kubernetes.watch.watcher import is_news
from spec.phases import Phase
from tests.engines.kubernetes.versions import job, pod


def observed(snapshot: Snapshot) -> Observation:
    assert snapshot.observation
    return snapshot.observation


def test_a_change_that_arrives_after_a_later_one_is_news() -> None:
    snapshot = Snapshot()
    snapshot.take_job(PYTORCH, "ADDED", job(10))
    snapshot.take_pod("ADDED", pod(11))
    snapshot.take_job(PYTORCH, "MODIFIED", job(20))
    before = observed(snapshot)
    snapshot.take_pod("MODIFIED", pod(19, runs=True))
    after = observed(snapshot)
    assert (before.phase, after.phase) == (Phase.INITIALIZING, Phase.RUNNING)
    assert after.sequence > before.sequence


def test_a_change_that_shows_nothing_new_is_not_told() -> None:
    snapshot = Snapshot()
    snapshot.take_job(PYTORCH, "ADDED", job(10))
    snapshot.take_pod("ADDED", pod(11))
    before = observed(snapshot)
    snapshot.take_pod("MODIFIED", pod(12))
    assert not is_news(observed(snapshot), before)
    snapshot.take_pod("MODIFIED", pod(13, runs=True))
    assert is_news(observed(snapshot), before)


def test_a_whole_list_is_later_than_any_part_of_it() -> None:
    """The next process lists what the last one had yet to hear."""
    last, following = Snapshot(), Snapshot()
    for snapshot in (last, following):
        snapshot.take_pod("ADDED", pod(11))
        snapshot.take_job(PYTORCH, "ADDED", job(20))
    following.take_pod("ADDED", pod(19, runs=True))
    following.listed(20)
    assert observed(following).sequence > observed(last).sequence


def test_a_list_whose_job_is_newer_than_its_pods_leaves_room_for_them() -> None:
    snapshot = Snapshot()
    snapshot.take_pod("ADDED", pod(11))
    snapshot.take_job(PYTORCH, "ADDED", job(20))
    snapshot.listed(15)
    before = observed(snapshot)
    snapshot.take_pod("MODIFIED", pod(19, runs=True))
    assert observed(snapshot).sequence > before.sequence
