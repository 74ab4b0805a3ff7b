"""What is kept of why a workload failed: read once, from the rank that failed first."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.base import Launch
from engines.fake import FakeEngine
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from workloads import diagnosis, logs
from workloads.models import Workload
from workloads.worker import collect


@pytest.fixture
def failed(db: None, settings: Settings, tmp_path: Path) -> Workload:
    settings.LOG_STORE = tmp_path
    workload: Workload = WorkloadFactory(failed=True, reason=Reason.RANK_FAILED, observed_run=1)
    ended(workload, (1, 1, 1))
    return workload


def ended(workload: Workload, codes: tuple[int, int, int]) -> None:
    """The ranks end with these codes, a second after each other."""
    now = timezone.now()
    for rank, code in enumerate(codes):
        at = now + timedelta(seconds=rank)
        workload.ranks.filter(rank=rank).update(exit_code=code, finished_at=at)


def printed(workload: Workload, rank: int, text: str, attempt: int = 0) -> None:
    logs.append(logs.Stream(workload.pk, 1, attempt, rank), text.encode())


def noted(workload: Workload) -> Workload:
    diagnosis.record_diagnosis(Workload.objects.get(pk=workload.pk))
    return Workload.objects.get(pk=workload.pk)


def test_the_class_and_the_place_of_the_line_are_kept(failed: Workload) -> None:
    printed(failed, 0, "héllo\nModuleNotFoundError: No module named 'x'\n", attempt=1)
    after = noted(failed)
    assert after.failure_class == "module-missing"
    text = "ModuleNotFoundError: No module named 'x'"
    assert after.failure_line == {"rank": 0, "attempt": 1, "offset": 7, "text": text}


def test_a_rank_that_failed_precedes_those_that_lost_peers(
    failed: Workload,
) -> None:
    printed(failed, 0, "RuntimeError: Connection closed by peer [10.0.0.2]:4711\n")
    printed(failed, 1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB\n")
    after = noted(failed)
    assert after.failure_class == "cuda-out-of-memory"
    assert after.failure_line["rank"] == 1


def test_of_several_causes_that_of_the_first_rank_counts(failed: Workload) -> None:
    printed(failed, 0, "KeyError: 'labels'\n")
    printed(failed, 1, "OSError: [Errno 28] No space left on device\n")
    assert noted(failed).failure_class == "exception"


def test_a_rank_that_was_killed_first_is_the_cause_without_a_line(failed: Workload) -> None:
    ended(failed, (-9, 1, 1))
    printed(failed, 0, '{"step": 1}\n')
    printed(failed, 1, "RuntimeError: Connection closed by peer [10.0.0.2]:4711\n")
    after = noted(failed)
    assert after.failure_class == "killed"
    assert after.failure_line == {"rank": 0, "attempt": 0, "offset": -1, "text": ""}


def test_a_rank_that_was_taken_along_is_not_the_cause(failed: Workload) -> None:
    ended(failed, (1, -9, -9))
    printed(failed, 0, "RuntimeError: Connection closed by peer [10.0.0.2]:4711\n")
    assert noted(failed).failure_class == "connection-lost"


@pytest.mark.parametrize(
    ("reason", "message", "name"),
    [
        (Reason.OUT_OF_MEMORY, "went over its limit", "host-out-of-memory"),
        (Reason.COMMAND_NOT_FOUND, "no such file", "command-not-found"),
        (Reason.LOST, "The supervisor of this workload was killed", "supervisor-lost"),
        (Reason.LOST, "The pod is gone.", "lost"),
        (Reason.LOST, "was evicted: Eviction API: evicting", "evicted"),
    ],
)
def test_the_word_of_the_engine_counts_more_than_the_log(
    reason: Reason, message: str, name: str, failed: Workload
) -> None:
    failed.ranks.filter(rank=0).update(reason=reason, message=message)
    printed(failed, 0, "KeyError: 'labels'\n")
    assert noted(failed).failure_class == name


def test_a_time_limit_counts_more_than_how_ranks_took_it(failed: Workload) -> None:
    Workload.objects.update(reason=Reason.DEADLINE_EXCEEDED)
    printed(failed, 0, "KeyboardInterrupt: terminated\n")
    assert noted(Workload.objects.get()).failure_class == "time-limit"


def test_only_the_end_of_a_large_log_is_read(
    failed: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed(failed, 0, "KeyError: 'long ago'\n" + "an ordinary line\n" * 100_000)
    assert noted(failed).failure_class == ""


def test_a_workload_that_did_not_fail_has_no_class(failed: Workload) -> None:
    printed(failed, 0, "KeyError: 'labels'\n")
    Workload.objects.update(phase=Phase.COMPLETED)
    assert noted(failed).failure_class == ""


def test_the_collector_notes_it_when_the_output_is_here(failed: Workload) -> None:
    engine = FakeEngine()
    engine.submit(Launch(failed.handle, run=1, spec=failed.spec))
    engine.print(failed.handle, 0, "Traceback (most recent call last):\n")
    engine.print(failed.handle, 0, "AssertionError: four classes\n")
    fresh = Workload.objects.select_related("project", "cluster").get(pk=failed.pk)
    collect.collect_workload(engine, fresh, time.monotonic() + 5)
    after = Workload.objects.get(pk=failed.pk)
    assert after.failure_class == "assertion"
    assert after.failure_line["text"] == "AssertionError: four classes"
