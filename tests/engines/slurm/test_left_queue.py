"""What left the queue without a word is asked of accounting together, and is Unknown in the end."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from engines.slurm.client.transport import LocalTransport, SlurmPrograms
from engines.slurm.layout import job_name
from engines.slurm.queue.reader import QueueReader
from engines.slurm.watch import poll
from engines.slurm.watch.poll import Looker
from spec.phases import Phase
from tests.engines.slurm import people
from tests.engines.slurm.watched import Counting

UIDS = [UUID(int=number) for number in (1, 2, 3)]
TIMES = "2026-11-22T20:05:00|2026-11-22T20:05:01|2026-11-22T20:05:09"


def phases(looker: Looker) -> list[Phase | None]:
    """Where the queue has none of their jobs."""
    glances = {it.uid: it.observation.phase for it in looker.some(UIDS, [])}
    return [glances[uid] for uid in UIDS]


def test_jobs_that_left_the_queue_are_asked_for_in_one_call_and_are_never_failed_by_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, uid in enumerate(UIDS):
        (people.written(tmp_path / "shared", uid) / "job").write_text(f"{52 + number}\n")
    row = f"52|{job_name(UIDS[0], 1)}|COMPLETED|{TIMES}|n1|1001|0:0|None"
    sacct = tmp_path / "sacct"
    sacct.write_text(f"#!/bin/sh\necho '{row}'\n")
    sacct.chmod(0o755)
    login = Counting(LocalTransport(SlurmPrograms(folder=str(tmp_path))))
    looker = Looker(login, str(tmp_path / "shared"), QueueReader(login, 1.0))
    # The others are as they were: they may be on their way out of the queue.
    assert phases(looker) == [Phase.COMPLETED, Phase.RUNNING, Phase.RUNNING]
    (asked,) = [line for line in login.asked if line.startswith("sacct")]
    assert all(job_name(uid, 1) in asked for uid in UIDS)
    monkeypatch.setattr(poll, "MISSED_FOR", timedelta(seconds=-1))
    assert phases(looker) == [Phase.COMPLETED, Phase.UNKNOWN, Phase.UNKNOWN]
    assert login.count("sacct") == 2
    monkeypatch.setattr(poll, "PATIENCE", timedelta(seconds=-1))
    assert phases(looker) == [Phase.COMPLETED, Phase.UNKNOWN, Phase.UNKNOWN]
    assert login.count("sacct") == 2  # it has nothing of them
