"""Accounting is asked for a job by its id, in JSON, and what it says is in the history."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest

from engines.base import EngineUnavailable
from engines.slurm.client.transport import TIMEOUT, CommandResult
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.queue.reader import QueueReader
from engines.slurm.script.site import SlurmSite
from engines.slurm.watch.history import AT_ONCE, JobHistory
from engines.slurm.watch.poll import Glance, Looker
from engines.slurm.watch.watcher import QueueWatcher
from tests.engines.slurm import cases
from tests.engines.slurm.accounted import START, record
from tests.engines.slurm.glances import glance
from tests.waiting import wait_for


@dataclass
class Accounting:
    """A login node whose ``sacct`` has these jobs; without any it does not answer."""

    jobs: list[dict[str, object]] = field(default_factory=list)
    lines: list[Sequence[str]] = field(default_factory=list)
    host: str = "login"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        self.lines.append(argv)
        if not self.jobs:
            raise EngineUnavailable("no answer")
        return CommandResult(0, json.dumps({"jobs": self.jobs}).encode(), "")

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return [*argv]

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


@dataclass
class Hanging(Accounting):
    """Its ``sacct`` waits until it ``answers``, and its queue is empty."""

    answers: Event = field(default_factory=Event)

    def count(self, program: str) -> int:
        return sum(line[0] == program for line in self.lines)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        answer = super().run(argv, stdin=stdin, timeout=timeout)
        if argv[0] != "sacct":
            return CommandResult(0, b"", "")
        self.answers.wait(timeout)
        return answer


def looked_at(
    state: str = "RUNNING", *, uid: UUID = cases.UID, job_id: str = "52", timed: bool = True
) -> Glance:
    end = START + timedelta(seconds=62) if state != "RUNNING" and timed else None
    job = BatchJob(job_id, job_name(uid, 1), state, START, START, end, "n1")
    return replace(glance(uid, job_id), job=job)


def told(history: JobHistory) -> list[str]:
    return [f"{it.reason}: {it.message} ({it.about})" for it in history.take()]


@pytest.mark.parametrize("timed", [True, False])  # whether the queue tells when it ended
def test_accounting_is_asked_once_at_start_and_once_at_end(*, timed: bool) -> None:
    login = Accounting([record()])
    history = JobHistory(login)
    at = START + timedelta(seconds=5)
    for _ in range(3):
        history.ask_accounting([looked_at()], at)
    assert told(history) == ["Started: on n1; 2 CPUs (job 52)"]
    login.jobs = [record("FAILED")]
    for _ in range(3):
        history.ask_accounting([looked_at("FAILED", timed=timed)], at + timedelta(seconds=60))
    assert told(history)[1:] == ["Failed: after 0:01:02 (job 52)"]
    assert len(login.lines) == 2
    assert all("--jobs=52" in line and "--json" in line for line in login.lines)


def test_many_that_start_together_are_asked_for_in_turn() -> None:
    uids = [UUID(int=number) for number in range(1, AT_ONCE + 11)]
    login = Accounting([record(name=job_name(it, 1), job_id=it.int) for it in uids])
    history = JobHistory(login)
    glances = [looked_at(uid=uid, job_id=str(uid.int)) for uid in uids]
    for _ in range(3):
        history.ask_accounting(glances, START)
    assert len(login.lines) == 2
    assert {it.workload_id for it in history.take()} == set(uids)


def test_jobs_that_changed_without_a_worker_are_read_within_a_day() -> None:
    login = Accounting([record("COMPLETED")])
    history = JobHistory(login)
    history.ask_accounting([looked_at("COMPLETED")], START + timedelta(days=2))
    assert (login.lines, told(history)) == ([], [])
    history = JobHistory(login)
    history.ask_accounting([looked_at("COMPLETED")], START + timedelta(hours=20))
    assert told(history) == ["Started: on n1; 2 CPUs (job 52)", "Completed: after 0:01:02 (job 52)"]


def test_an_event_that_was_not_stored_comes_with_the_next_watch() -> None:
    engine = SlurmEngine(Accounting([record()]), SlurmSite("/shared"), interval=0.01)
    engine._history.ask_accounting([looked_at()], START)
    (started,) = engine.events()  # and the database is away, which ends the watch
    for expected in ([started], []):
        with closing(engine.watch()) as watch:
            next(watch)
            assert engine.events() == expected
            assert engine.events() == []


def test_a_look_at_the_queue_waits_for_no_answer_of_accounting() -> None:
    login = Hanging([record(name="not-yet")])
    history = JobHistory(login)
    looker = Looker(login, "/shared", QueueReader(login, 0.01))
    login.answers.set()
    history.ask_accounting([looked_at()], START)
    login.answers.clear()
    with closing(QueueWatcher(looker, history).watch()) as watch:
        wait_for(lambda: next(watch) or login.count("squeue") > 2, 5, "more looks")
        assert login.count("sacct") == 2
        login.answers.set()
        wait_for(lambda: next(watch) or history.take(), 5, "the queue to speak")


def test_late_accounting_is_asked_again_before_the_queue_is_used() -> None:
    history = JobHistory(login := Accounting([record()]))  # still running, it says
    for seconds in (63, 70, 90):
        history.ask_accounting([looked_at("TIMEOUT")], START + timedelta(seconds=seconds))
    assert (len(login.lines), told(history)) == (3, [])
    history.ask_accounting([], START + timedelta(seconds=100))
    assert told(history) == ["Started: on n1 (job 52)", "TimeLimit: after 0:01:02 (job 52)"]


def test_accounting_that_is_silent_is_left_alone_and_no_line_is_lost() -> None:
    history = JobHistory(login := Accounting())
    history.ask_accounting([looked_at()], START)
    history.ask_accounting([looked_at(uid=UUID(int=7), job_id="53")], START + timedelta(seconds=6))
    assert told(history) == ["Started: on n1 (job 52)", "Started: on n1 (job 53)"]
    ended = looked_at("CANCELLED", timed=False)  # not even the queue says when
    history.ask_accounting([ended], START + timedelta(seconds=10))
    assert told(history)[1:] == ["Canceled: after 0:00:10 (job 52)"]
    assert len(login.lines) == 1


def test_somebody_elses_job_that_got_the_number_is_not_told_of() -> None:
    login = Accounting([record(name="mine-now")])
    history = JobHistory(login)
    history.ask_accounting([looked_at()], START)
    history.ask_accounting([], START + timedelta(minutes=3))
    assert told(history) == ["Started: on n1 (job 52)"]


def test_a_job_that_was_deleted_is_forgotten() -> None:
    history = JobHistory(Accounting([record(name="not-yet")]))
    history.ask_accounting([looked_at()], START)
    history.ask_accounting([], START + timedelta(minutes=3), gone=[cases.UID])
    assert told(history) == []
