"""Observations grow from one to the next, in whatever order changes arrive. No cluster."""

from dataclasses import replace

from engines.base import Manifest, Observation
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.status.conditions import parse_time
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


def test_the_first_request_to_delete_a_pod_is_kept() -> None:
    """A node asks once more, without a grace period, when the containers have ended."""
    snapshot = Snapshot()
    snapshot.take_job(PYTORCH, "ADDED", job(10))
    snapshot.take_pod("MODIFIED", removed(11, "2026-01-01T00:00:35Z", 30))
    snapshot.take_pod("MODIFIED", removed(12, "2026-01-01T00:00:09Z", 0))
    relisted = all_of_it(job(10), removed(12, "2026-01-01T00:00:09Z", 0))
    relisted.take_over(snapshot)
    for after in (snapshot, relisted):
        view = after.job_view
        assert view
        assert [one.removed_at for one in view.pods] == [parse_time("2026-01-01T00:00:05Z")]


def removed(version: int, until: str, grace: int) -> Manifest:
    """Return a pod whose program ended with 0 at second 7."""
    made = pod(version)
    made["metadata"] |= {"deletionTimestamp": until, "deletionGracePeriodSeconds": grace}
    end = {"exitCode": 0, "finishedAt": "2026-01-01T00:00:07Z"}
    container = {"name": "pytorch", "state": {"terminated": end}}
    made["status"] |= {"phase": "Succeeded", "containerStatuses": [container]}
    return made


def test_a_whole_list_is_later_than_any_part_of_it() -> None:
    """The next process lists what the last one had yet to hear."""
    last = Snapshot()
    following = Snapshot()
    for snapshot in (last, following):
        snapshot.take_pod("ADDED", pod(11))
        snapshot.take_job(PYTORCH, "ADDED", job(20))
    following.take_pod("ADDED", pod(19, runs=True))
    following.mark_listed(20)
    assert observed(following).sequence > observed(last).sequence


def test_a_list_with_a_newer_job_waits_for_its_pods() -> None:
    snapshot = Snapshot()
    snapshot.take_pod("ADDED", pod(11))
    snapshot.take_job(PYTORCH, "ADDED", job(20))
    snapshot.mark_listed(15)
    before = observed(snapshot)
    snapshot.take_pod("MODIFIED", pod(19, runs=True))
    assert observed(snapshot).sequence > before.sequence


def test_unchanged_objects_in_a_list_are_not_evaluated_again() -> None:
    before = all_of_it(job(10), pod(11, runs=True))
    last = observed(before)
    same = all_of_it(job(10), pod(11, runs=True))
    other = all_of_it(job(10), pod(12, runs=True))
    for snapshot in (same, other):
        snapshot.take_over(before)
        snapshot.mark_listed(20)
    assert same.job_view is before.job_view
    assert other.job_view is not before.job_view
    assert observed(same) == replace(last, sequence=observed(other).sequence)
    assert observed(same).sequence > last.sequence
    same.take_pod("MODIFIED", pod(21))
    assert observed(same).phase == Phase.INITIALIZING
    assert observed(same).sequence > observed(other).sequence


def test_a_gang_that_waits_is_judged_again_with_each_list() -> None:
    """With time alone there is more to say of it."""
    before = all_of_it(job(10), pod(11))
    assert observed(before).phase == Phase.INITIALIZING
    same = all_of_it(job(10), pod(11))
    same.take_over(before)
    same.mark_listed(20)
    assert same.job_view is not before.job_view


def test_a_change_that_nobody_judged_before_a_list_is_judged_after_it() -> None:
    """A change may have been taken in, and no more."""
    before = all_of_it(job(10), pod(11, runs=True))
    assert observed(before).phase == Phase.RUNNING
    before.take_pod("MODIFIED", pod(12))
    same = all_of_it(job(10), pod(12))
    same.take_over(before)
    same.mark_listed(20)
    assert observed(same).phase == Phase.INITIALIZING


def all_of_it(job: Manifest, pod: Manifest) -> Snapshot:
    snapshot = Snapshot()
    snapshot.take_pod("ADDED", pod)
    snapshot.take_job(PYTORCH, "ADDED", job)
    return snapshot
