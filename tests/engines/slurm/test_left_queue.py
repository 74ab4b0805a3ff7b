"""What left the queue without a word is asked of accounting together, and is Unknown in the end."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from engines.slurm.client.transport import LocalTransport, SlurmPrograms
from engines.slurm.layout import job_name
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.queue.reader import QueueReader
from engines.slurm.status.facts import launch_line
from engines.slurm.watch import poll
from engines.slurm.watch.poll import Looker
from spec.phases import Phase
from tests.engines.slurm import cases, people
from tests.engines.slurm.watched import Counting

UIDS = [UUID(int=number) for number in (1, 2, 3)]
TIMES = "2026-11-22T20:05:00|2026-11-22T20:05:01|2026-11-22T20:05:09"


def phases(looker: Looker) -> list[Phase | None]:
    """Where the queue has none of their jobs."""
    glances = {it.uid: it.observation.phase for it in looker.some(UIDS, [])}
    return [glances[uid] for uid in UIDS]


def test_jobs_that_left_the_queue_are_read_in_one_call(
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
    # At first they are as they were: the queue may have been asked before they came.
    assert phases(looker) == [Phase.RUNNING, Phase.RUNNING, Phase.RUNNING]
    assert login.count("sacct") == 0
    # The others still are: they may be on their way out of the queue.
    assert phases(looker) == [Phase.COMPLETED, Phase.RUNNING, Phase.RUNNING]
    (asked,) = [line for line in login.asked if line.startswith("sacct")]
    assert all(job_name(uid, 1) in asked for uid in UIDS)
    monkeypatch.setattr(poll, "MISSED_FOR", timedelta(seconds=-1))
    assert phases(looker) == [Phase.COMPLETED, Phase.UNKNOWN, Phase.UNKNOWN]
    assert login.count("sacct") == 2
    monkeypatch.setattr(poll, "PATIENCE", timedelta(seconds=-1))
    assert phases(looker) == [Phase.COMPLETED, Phase.UNKNOWN, Phase.UNKNOWN]
    assert login.count("sacct") == 2  # it has nothing of them


def test_a_job_after_the_query_is_in_the_next_answer(tmp_path: Path) -> None:
    """Nobody asks accounting for it, and the job of a submission that was refused is not its."""
    (uid, other, _) = UIDS
    now = datetime.now(UTC)
    refused = BatchJob("51", job_name(uid, 1), "FAILED", submitted=now, end=now)
    login = Counting(LocalTransport())
    looker = Looker(login, str(tmp_path), QueueReader(login, 1.0))
    run = submitted(tmp_path, uid)
    assert looker.some([uid], [refused]) == []  # it may be refused, or has to be tried again
    (run / "job").write_text("52\n")
    (glance,) = looker.some([uid], [refused])
    assert glance.observation.phase is Phase.PENDING
    assert looker.some([other], []) == []  # even while another workload is read
    (glance,) = looker.some([uid], [refused, replace(refused, id="52", state="RUNNING")])
    assert glance.observation.phase is Phase.INITIALIZING
    assert login.count("sacct") == 0
    assert not (run / "ended").exists()


def test_a_stopping_job_is_stopped_once_it_left_the_queue(
    tmp_path: Path,
) -> None:
    """But for one that was created a moment ago: the queue may not have had it yet."""
    looker = Looker(LocalTransport(), str(tmp_path), QueueReader(LocalTransport(), 1.0))
    ages = {UIDS[0]: timedelta(minutes=10), UIDS[1]: timedelta(seconds=1)}
    for uid, age in ages.items():
        run = people.written(tmp_path, uid)
        created = launch_line(cases.single(), datetime.now(UTC) - age)
        (run / "launch").write_text(f"{created}\n")
        (run / "stop").touch()
    glances = {it.uid: it.observation.phase for it in looker.some(ages, [])}
    assert glances == {UIDS[0]: Phase.STOPPED, UIDS[1]: Phase.RUNNING}


def submitted(directory: Path, uid: UUID) -> Path:
    """The folder of a run whose script is being handed to Slurm."""
    run = people.written(directory, uid)
    for path in (run / "attempt", run / "claim"):
        path.unlink()
    return run
