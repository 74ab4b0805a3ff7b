"""Checkpoints that a training reports, and the work that is not saved yet."""

import time
from datetime import timedelta
from pathlib import Path

from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from spec.phases import Phase
from workloads import logs
from workloads.metrics.parse import MOST_CHECKPOINTS, store_samples
from workloads.models import Attempt, Workload


def saved(step: int, minutes: int) -> dict[str, object]:
    """A checkpoint of run 1, saved so many minutes ago."""
    at = timezone.now() - timedelta(minutes=minutes)
    return {"run": 1, "step": step, "at": at.isoformat(), "bytes": 12_000_000}


def test_checkpoints_are_read_from_the_output_once(
    workload: Workload, tmp_path: Path, settings: Settings
) -> None:
    settings.LOG_STORE = tmp_path
    attempt = Attempt.objects.create(workload=workload, run=1, attempt=0)
    stream = logs.Stream(workload.pk, 1, 0, 0)
    logs.append(stream, b'{"step": 50, "event": "checkpoint", "bytes": 1200}\n{"step": 60}\n')
    logs.append(logs.Stream(workload.pk, 1, 0, 1), b'{"step": 50, "event": "checkpoint"}\n')
    assert store_samples(workload, attempt, time.monotonic() + 10)
    assert [sample.step for sample in workload.samples.all()] == [60]
    (entry,) = Workload.objects.get().checkpoints
    assert (entry["run"], entry["step"]) == (1, 50)
    for step in range(100, 100 + 2 * MOST_CHECKPOINTS):
        logs.append(stream, f'{{"step": {step}, "event": "checkpoint", "bytes": 7}}\n'.encode())
    assert store_samples(workload, attempt, time.monotonic() + 10)
    entries = Workload.objects.get().checkpoints
    assert len(entries) == MOST_CHECKPOINTS
    assert entries[-1]["step"] == 99 + 2 * MOST_CHECKPOINTS


def test_work_since_the_last_checkpoint_is_at_risk_while_it_runs(workload: Workload) -> None:
    assert workload.seconds_at_risk is None
    assert workload.risk_sentence == ""
    workload.phase_updated_at = timezone.now() - timedelta(minutes=10)
    workload.checkpoints = [saved(100, 7), saved(200, 2)]
    assert workload.risk_sentence.startswith("Its last checkpoint is that of step 200; 2 min")
    workload.checkpoints = [saved(100, 60)]  # of the run before
    assert workload.seconds_at_risk is not None
    assert round(workload.seconds_at_risk) == 600
    workload.phase = Phase.STOPPED
    assert workload.seconds_at_risk is None


def test_the_page_lists_checkpoints_and_the_questions_say_what_is_lost(
    client: Client, workload: Workload
) -> None:
    began = timezone.now() - timedelta(minutes=10)
    Workload.objects.update(checkpoints=[saved(200, 2)], phase_updated_at=began)
    page = client.get(f"/workloads/{workload.pk}/").content.decode()
    assert "Step 200" in page
    assert "12 MB" in page
    for verb in ("stop", "delete"):
        question = client.get(f"/workloads/{workload.pk}/{verb}/").content.decode()
        assert "Its last checkpoint is that of step 200" in question
