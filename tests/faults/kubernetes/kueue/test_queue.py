"""Jobs that Kueue starts, evicts and starts again: a wait is no stop, and Kueue's fields are left
alone. Everything is real."""

from functools import partial

import pytest

from spec.phases import Phase
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.faults.kubernetes.kueue.workloads import (
    act,
    fought_writes,
    is_ending,
    is_free,
    main_phases,
    submit,
    waits,
)
from tests.faults.kubernetes.site import ENDED, ENDLESS, NAMESPACE, Site
from tests.rest import ENDS
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes, pytest.mark.kueue]

KINDS = pytest.mark.parametrize("kind", ["distributed", "trainings"])
SLOW_END = "trap 'sleep 8; exit 143' TERM; echo begins; while :; do sleep 0.2; done"
#: What a workload goes through that Kueue evicts, and admits again.
EVICTED_ONCE = [Phase.RUNNING, Phase.PENDING, Phase.RUNNING]


@KINDS
def test_a_workload_waits_for_quota_and_starts_once(site: Site, queue: Queue, kind: str) -> None:
    queue.open(seats=2)
    first = submit(site, "first", ENDLESS, kind="distributed")
    site.rest.wait(first, "Running", *ENDS, timeout=ENDED)
    second = submit(site, "second", "true", kind=kind)
    waits(site, second, "lacks quota for cpu")
    assert site.rest.read(second)["phaseReason"] == "WaitingForQuota"
    site.rest.delete(first)
    assert site.rest.wait(second, *ENDS, timeout=ENDED) == "Completed"
    assert site.rest.read(second)["run"] == 1
    site.is_sound(second)
    assert fought_writes(site.proxy) == []


def test_a_workload_that_can_never_start_says_so(site: Site, queue: Queue) -> None:
    queue.open(seats=1)
    large = submit(site, "large", "true", kind="distributed")
    waits(site, large, "than queue default can ever give")
    assert site.rest.read(large)["phaseReason"] == "NeverFits"


@pytest.mark.parametrize(("kind", "limit"), [("distributed", 3), ("trainings", 0)])
def test_an_eviction_is_a_wait_and_both_attempts_keep_their_output(
    site: Site, queue: Queue, kind: str, limit: int
) -> None:
    """The queue is open again while the evicted pods still end."""
    queue.open(seats=2)
    patience = {"terminationGracePeriodSeconds": 30, "backoffLimit": limit}
    slow = submit(site, "slow", SLOW_END, kind=kind, **patience)
    assert site.rest.wait(slow, "Running", *ENDS, timeout=ENDED) == "Running"
    wait_for(lambda: site.rest.log(slow).count("begins") == 1, 30, "the first output")
    queue.hold("HoldAndDrain")
    waits(site, slow, "its ClusterQueue was stopped")
    wait_for(lambda: is_ending(site, slow), 30, "its pods to be asked to end")
    queue.hold("None")
    assert site.rest.wait(slow, "Running", *ENDS, timeout=ENDED) == "Running"
    wait_for(lambda: main_phases(site, slow) == EVICTED_ONCE, 10, "its history")
    row = site.rest.read(slow)
    assert (row["run"], row["phase"]) == (1, "Running")
    first = partial(site.rest.log, slow, attempt=1)
    second = partial(site.rest.log, slow, attempt=2)
    wait_for(lambda: first().count("begins") == second().count("begins") == 1, 30, "both outputs")
    assert fought_writes(site.proxy) == []


def test_a_gang_that_kueue_starts_too_early_runs_again(site: Site, queue: Queue) -> None:
    """The training operator takes pods that still end for failed ones, if none may restart."""
    queue.open(seats=2)
    patience = {"terminationGracePeriodSeconds": 30, "backoffLimit": 0}
    early = submit(site, "early", SLOW_END, kind="distributed", **patience)
    assert site.rest.wait(early, "Running", *ENDS, timeout=ENDED) == "Running"
    queue.hold("HoldAndDrain")
    wait_for(lambda: is_ending(site, early), 30, "its pods to be asked to end")
    queue.hold("None")
    wait_for(lambda: site.rest.read(early)["run"] == 2, ENDED, "the next run", every=0.2)
    assert site.rest.wait(early, "Running", "Failed", timeout=ENDED) == "Running"
    assert Phase.FAILED not in site.history(early)
    assert fought_writes(site.proxy) == []


@KINDS
def test_a_preempted_workload_waits_and_runs_again(site: Site, queue: Queue, kind: str) -> None:
    queue.open(seats=2)
    low = submit(site, "low", ENDLESS, kind=kind, priorityClass="low")
    assert site.rest.wait(low, "Running", *ENDS, timeout=ENDED) == "Running"
    high = submit(site, "high", ENDLESS, kind="distributed", priorityClass="high")
    waits(site, low, "preempted it for a workload of higher priority")
    assert site.rest.wait(high, "Running", *ENDS, timeout=ENDED) == "Running"
    site.rest.delete(high)
    assert site.rest.wait(low, "Running", *ENDS, timeout=ENDED) == "Running"
    assert site.rest.read(low)["run"] == 1
    assert main_phases(site, low) == EVICTED_ONCE
    assert fought_writes(site.proxy) == []


@KINDS
def test_a_stop_frees_the_quota_and_the_next_run_is_queued_again(
    site: Site, queue: Queue, kind: str
) -> None:
    queue.open(seats=2)
    stopped = submit(site, "stopped", ENDLESS, kind=kind)
    assert site.rest.wait(stopped, "Running", *ENDS, timeout=ENDED) == "Running"
    act(site, stopped, "suspend", kind)
    assert site.rest.wait(stopped, *ENDS, timeout=ENDED) == "Stopped"
    assert is_free(queue)
    assert not site.cluster.pods(stopped)
    act(site, stopped, "resume", kind)
    assert site.rest.wait(stopped, "Running", "Failed", timeout=ENDED) == "Running"
    assert site.rest.read(stopped)["run"] == 2
    assert len(queue.entries()) == 1
    assert fought_writes(site.proxy) == []


@KINDS
def test_a_waiting_workload_is_stopped_at_once(site: Site, queue: Queue, kind: str) -> None:
    queue.open(seats=0)
    waiting = submit(site, "waiting", ENDLESS, kind=kind)
    waits(site, waiting, "than queue default can ever give")
    act(site, waiting, "suspend", kind)
    assert site.rest.wait(waiting, *ENDS, timeout=ENDED) == "Stopped"
    queue.open(seats=2)
    other = submit(site, "other", "true")
    assert site.rest.wait(other, *ENDS, timeout=ENDED) == "Completed"
    assert site.rest.phase(waiting) == "Stopped", "Kueue starts others, and not this one"


@KINDS
def test_a_deletion_is_over_once_the_quota_is_free(site: Site, queue: Queue, kind: str) -> None:
    queue.open(seats=2)
    deleted = submit(site, "deleted", SLOW_END, kind=kind, terminationGracePeriodSeconds=5)
    assert site.rest.wait(deleted, "Running", *ENDS, timeout=ENDED) == "Running"
    site.rest.delete(deleted)
    wait_for(lambda: not site.rest.send("GET", "/workloads")["workloads"], ENDED, "it to be gone")
    assert is_free(queue)
    assert not site.cluster.jobs(deleted)
    assert not queue.entries()


@KINDS
def test_a_workload_activated_by_hand_continues_as_the_next_run(
    site: Site, queue: Queue, kind: str
) -> None:
    queue.open(seats=2)
    again = submit(site, "again", ENDLESS, kind=kind, backoffLimit=3)
    assert site.rest.wait(again, "Running", *ENDS, timeout=ENDED) == "Running"
    act(site, again, "suspend", kind)
    assert site.rest.wait(again, *ENDS, timeout=ENDED) == "Stopped"
    (entry,) = queue.entries()
    queue.activate(entry)
    assert site.rest.wait(again, "Running", "Failed", timeout=ENDED) == "Running"
    assert site.rest.read(again)["run"] == 2
    assert queue.entries()[0].name == entry.name, "the job was not replaced"
    assert fought_writes(site.proxy) == []


def test_submissions_into_an_open_queue_are_one_run_each(site: Site, queue: Queue) -> None:
    """Kueue suspends each at its creation, and resumes it a moment later."""
    queue.open(seats=12)
    kinds = ["distributed", "trainings"] * 4
    names = [
        submit(site, f"short-{number}", "sleep 3", kind=kind) for number, kind in enumerate(kinds)
    ]
    for name in names:
        assert site.rest.wait(name, *ENDS, timeout=ENDED) == "Completed"
        assert site.rest.read(name)["run"] == 1
        assert main_phases(site, name)[-1] is Phase.COMPLETED
        site.is_sound(name)
    assert fought_writes(site.proxy) == []
    jobs = f"/namespaces/{NAMESPACE}/"
    created = [write for write in site.proxy.writes if write.method == "POST"]
    assert len([it for it in created if jobs in it.path and "jobs" in it.path]) == len(names)
