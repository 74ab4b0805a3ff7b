"""Accounting is asked for a job by its id, in JSON, and what it says is in the history."""

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest

from engines.base import ClusterEvent, EngineUnavailable, Launch
from engines.slurm.client import files
from engines.slurm.client.transport import TIMEOUT, CommandResult, SlurmPrograms
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
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for
from workloads.worker import cluster_events


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
def test_a_job_is_asked_for_once_at_its_start_and_once_at_its_end(*, timed: bool) -> None:
    login = Accounting([record()])
    history, at = JobHistory(login), START + timedelta(seconds=5)
    for _ in range(3):
        history.go_on([looked_at()], at)
    assert told(history) == ["Started: on n1; 2 CPUs (job 52)"]
    login.jobs = [record("FAILED")]
    for _ in range(3):
        history.go_on([looked_at("FAILED", timed=timed)], at + timedelta(seconds=60))
    assert told(history)[1:] == ["Failed: after 0:01:02 (job 52)"]
    assert len(login.lines) == 2
    assert all("--jobs=52" in line and "--json" in line for line in login.lines)


def test_many_that_start_together_are_asked_for_in_turn() -> None:
    uids = [UUID(int=number) for number in range(1, AT_ONCE + 11)]
    login = Accounting([record(name=job_name(it, 1), job_id=it.int) for it in uids])
    history = JobHistory(login)
    glances = [looked_at(uid=uid, job_id=str(uid.int)) for uid in uids]
    for _ in range(3):
        history.go_on(glances, START)
    assert len(login.lines) == 2
    assert {it.workload_id for it in history.take()} == set(uids)


def test_jobs_that_came_or_went_without_a_worker_are_asked_for_within_a_day() -> None:
    login = Accounting([record("COMPLETED")])
    history = JobHistory(login)
    history.go_on([looked_at("COMPLETED")], START + timedelta(days=2))
    assert (login.lines, told(history)) == ([], [])
    history = JobHistory(login)
    history.go_on([looked_at("COMPLETED")], START + timedelta(hours=20))
    assert told(history) == ["Started: on n1; 2 CPUs (job 52)", "Completed: after 0:01:02 (job 52)"]


def test_a_line_that_was_not_written_down_is_told_by_the_next_watch() -> None:
    engine = SlurmEngine(Accounting([record()]), SlurmSite("/shared"), interval=0.01)
    engine._history.go_on([looked_at()], START)
    (started,) = engine.events()  # and the database is away, which ends the watch
    for expected in ([started], []):
        with closing(engine.watch()) as watch:
            next(watch)
            assert engine.events() == expected
            assert engine.events() == []


def test_a_look_at_the_queue_waits_for_no_answer_of_accounting() -> None:
    login = Hanging([record(name="not-yet")])
    history, looker = JobHistory(login), Looker(login, "/shared", QueueReader(login, 0.01))
    login.answers.set()
    history.go_on([looked_at()], START)
    login.answers.clear()
    with closing(QueueWatcher(looker, history).watch()) as watch:
        wait_for(lambda: next(watch) or login.count("squeue") > 2, 5, "more looks")
        assert login.count("sacct") == 2
        login.answers.set()
        wait_for(lambda: next(watch) or history.take(), 5, "the queue to speak")


def test_accounting_that_lags_is_asked_again_and_the_queue_speaks_in_the_end() -> None:
    history = JobHistory(login := Accounting([record()]))  # still running, it says
    for seconds in (63, 70, 90):
        history.go_on([looked_at("TIMEOUT")], START + timedelta(seconds=seconds))
    assert (len(login.lines), told(history)) == (3, [])
    history.go_on([], START + timedelta(seconds=100))
    assert told(history) == ["Started: on n1 (job 52)", "TimeLimit: after 0:01:02 (job 52)"]


def test_accounting_that_is_silent_is_left_alone_and_no_line_is_lost() -> None:
    history = JobHistory(login := Accounting())
    history.go_on([looked_at()], START)
    history.go_on([looked_at(uid=UUID(int=7), job_id="53")], START + timedelta(seconds=6))
    assert told(history) == ["Started: on n1 (job 52)", "Started: on n1 (job 53)"]
    assert len(login.lines) == 1


def test_somebody_elses_job_that_got_the_number_is_not_told_of() -> None:
    login = Accounting([record(name="mine-now")])
    history = JobHistory(login)
    history.go_on([looked_at()], START)
    history.go_on([], START + timedelta(minutes=3))
    assert told(history) == ["Started: on n1 (job 52)"]


def test_a_job_that_was_deleted_is_forgotten() -> None:
    history = JobHistory(Accounting([record(name="not-yet")]))
    history.go_on([looked_at()], START)
    history.go_on([], START + timedelta(minutes=3), gone=[cases.UID])
    assert told(history) == []


def heard(rig: SlurmRig, *reasons: str) -> list[ClusterEvent]:
    """What the watch hears of a job, as soon as it heard all of these."""
    watch, events = rig.engine.watch(), dict[str, ClusterEvent]()

    def come() -> bool:
        next(watch)
        events.update({event.reason: event for event in rig.engine.events()})
        return set(reasons) <= events.keys()

    try:
        wait_for(come, 60, " and ".join(reasons))
    finally:
        watch.close()
    return [events[reason] for reason in reasons]


def with_gpus(launched: Launch) -> Launch:
    compute = launched.spec.worker.compute.model_copy(update={"gpu_devices_request": 1})
    replica = launched.spec.worker.model_copy(update={"compute": compute})
    return replace(launched, spec=launched.spec.model_copy(update={"worker": replica}))


@pytest.mark.slurm
def test_the_page_tells_where_a_job_ran_with_what_and_that_it_was_canceled(
    rig: SlurmRig, pages: Pages
) -> None:
    launched = rig.submit(with_gpus(rig.shell("exec sleep 600")))
    (started,) = heard(rig, "Started")
    place = r"on n\S+; 2 GPUs, 2 CPUs, [\d.]+ [MG]B of memory; "
    assert re.fullmatch(place + "partition gpu; account vision; QOS normal", started.message)
    name = job_name(launched.handle.workload_id, 1)
    rig.transport.run(["scancel", f"--name={name}"])
    (ended,) = heard(rig, "Canceled")
    assert re.match(r"after 0:00:\d\d", ended.message)
    row = pages.show(launched)
    cluster_events.note(row.cluster, [started, ended])
    page = pages.browser.get(f"{row.get_absolute_url()}events/").content.decode()
    for event in (started, ended):
        assert f"{event.reason}: {event.message} ({event.about})" in page


@pytest.mark.slurm
def test_the_steps_that_failed_are_told_with_the_memory_that_was_used(rig: SlurmRig) -> None:
    use = 'x=$(head -c 60000000 /dev/zero | tr "\\0" a); sleep 3; exit 3'
    rig.submit(rig.shell(use))
    (ended,) = heard(rig, "Failed")
    memory = re.search(r"a task used up to ([\d.]+) MB of memory on n\d", ended.message)
    assert memory, ended
    assert float(memory[1]) > 60


NO_JSON = r"""
mkdir -p "$1/plugins" && cd "$1" || exit 1
from=$(scontrol show config | sed -n 's/^PluginDir *= //p')
ln -sf "$from"/* plugins/ && rm -f plugins/serializer_json.so
sed '/^PluginDir/d' "$SLURM_CONF" > slurm.conf && echo "PluginDir=$1/plugins" >> slurm.conf
"""


@pytest.mark.slurm
def test_a_slurm_that_was_built_without_json_loses_no_line(rig: SlurmRig) -> None:
    place = f"{rig.site.directory}/without-json"
    files.checked(files.sh(rig.transport, NO_JSON, place), place)
    bare = replace(rig.transport, programs=SlurmPrograms(conf=f"{place}/slurm.conf"))
    answer = bare.run(["sh", "-c", "sacct --json --jobs=1; exit 0"])
    assert (answer.out, "nable to find plugin: serializer/json" in answer.err) == ("", True)
    rig.engine = SlurmEngine(bare, rig.site, interval=0.5)
    rig.submit(rig.prints())
    started, ended = heard(rig, "Started", "Completed")
    assert re.fullmatch(r"on n\S+", started.message)
    assert re.fullmatch(r"after 0:00:\d\d", ended.message)
