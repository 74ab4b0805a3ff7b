"""What goes wrong on real clusters: nothing is lost, nothing comes twice, no phase goes back."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from engines.base import EngineUnavailable, Launch, Observation
from engines.slurm import submission
from engines.slurm.client.transport import TIMEOUT, CommandResult, Transport
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import squeue
from engines.slurm.watch import poll
from spec.parts.scheduling import PriorityClass
from spec.phases import TERMINAL, Phase, Reason
from tests.engines.contract import DEADLINE, launch
from tests.engines.reading import listed, printed
from tests.engines.slurm import cases
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.slurm_testbed import run
from tests.waiting import wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("watched")]


@dataclass
class Deaf:
    """A transport whose next answer to a submission is lost, although the command did its work."""

    inner: Transport
    loses: bool = True
    host: str = "deaf"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        answer = self.inner.run(argv, stdin=stdin, timeout=timeout)
        if self.loses and "sbatch" in " ".join(argv):
            self.loses = False
            raise EngineUnavailable("the line was cut")
        return answer

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return self.inner.terminal(argv)

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return self.inner.tunnel(host, port)


@contextmanager
def without(daemon: str, stop: str = "kill", start: str = "start") -> Iterator[None]:
    run(stop, daemon)
    try:
        yield
    finally:
        run(start, daemon)


def jobs(rig: SlurmRig, launched: Launch) -> int:
    return len(squeue(rig.transport, names=[job_name(launched.handle.workload_id, launched.run)]))


def saved(rig: SlurmRig) -> None:
    """The controller knows after a crash what it knows now: it saves that every few seconds."""
    state = Path(rig.testbed.programs.conf).parent.parent / "state" / "job_state"
    now = time.time()
    wait_for(lambda: state.stat().st_mtime > now, 30, "the controller to save its state")


def test_a_submission_whose_answer_was_lost_is_found_again(rig: SlurmRig, pages: Pages) -> None:
    rig.engine = SlurmEngine(Deaf(rig.transport), rig.site)
    launched = rig.prints()
    pages.hand_over(launched)
    said = pages.shown(launched)
    assert "The cluster has not accepted it yet" in said
    assert "the line was cut" in said
    rig.engine.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert jobs(rig, launched) == 1
    assert printed(rig.engine, launched) == b"hello\n"


def test_a_controller_that_is_stopped_while_it_is_asked_makes_one_job_of_a_submission(
    rig: SlurmRig, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "ON_ITS_WAY", timedelta(seconds=5))
    launched = rig.prints()
    with without("slurmctld", "pause", "resume"):
        pages.hand_over(launched)
    said = pages.shown(launched)
    assert "The cluster has not accepted it yet" in said
    assert "Slurm does not accept the job now" in said
    rig.submit_patiently(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert jobs(rig, launched) == 1
    assert printed(rig.engine, launched) == b"hello\n"


def test_two_jobs_of_one_run_do_its_work_once(rig: SlurmRig, pages: Pages) -> None:
    launched = rig.submit(rig.shell("echo hello; sleep 3"))
    rig.seen(launched, Phase.RUNNING)
    script = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}/runs/1/batch.sh"
    rig.transport.run(["sbatch", script])
    assert rig.over(launched).phase is Phase.COMPLETED
    wait_for(lambda: all(it.is_over for it in squeue(rig.transport)), 30, "the other to end")
    assert printed(rig.engine, launched) == b"hello\n"
    assert {one.start for one in rig.engine.logs(launched.handle, run=1)} == {0}
    assert "Completed" in pages.text(launched)


def test_a_lost_job_is_not_taken_for_somebody_elses_that_got_its_number(
    rig: SlurmRig, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "MISSED_FOR", timedelta(seconds=1))
    rig.seen(rig.submit(rig.of_all_cores("exec sleep 600")), Phase.RUNNING)
    saved(rig)
    launched = rig.submit(rig.prints())
    pages.look(launched)
    (lost,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
    run("kill", "slurmctld")
    run("start", "slurmctld")
    with job_of_alice() as number:
        assert number == lost.id
        assert "lost its job before it started" in rig.seen(launched, Phase.UNKNOWN).message
        assert "Stop it, then run it again." in pages.text(launched)
        rig.engine.stop(launched.handle, run=1)
        rig.over(launched)
        rig.engine.delete(launched.handle)
        left = run("as", "alice", "squeue", "--noheader", f"--jobs={number}", "--format=%T").stdout
        assert left.strip() == "PENDING"


@contextmanager
def job_of_alice() -> Iterator[str]:
    """The number of one that waits, as soon as Slurm takes it."""
    words = ["as", "alice", "sbatch", "--parsable", "--hold", "--wrap=true"]
    number = wait_for(lambda: run(*words, check=False).stdout.strip(), 60, "alice's job", every=0.5)
    try:
        yield number
    finally:
        run("as", "alice", "scancel", number)


def test_ends_are_known_without_accounting(rig: SlurmRig, pages: Pages) -> None:
    with without("slurmdbd"):
        assert "slurmdbd does not answer. Jobs run" in pages.of_cluster()
        launched = rig.submit(rig.prints())
        assert rig.over(launched).phase is Phase.COMPLETED
        failed = rig.submit(rig.fails())
        assert rig.over(failed).phase is Phase.FAILED
        assert "worker-0 (rank 1) exited with code 3." in pages.text(failed)


def test_a_job_that_slurm_queues_again_is_the_next_attempt_of_its_run(
    rig: SlurmRig, pages: Pages
) -> None:
    script = '[ "$ATTEMPT" = 0 ] && exec sleep 600; echo second'
    launched = rig.submit(rig.shell(script))
    rig.seen(launched, Phase.RUNNING)
    (job,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
    rig.transport.run(["scontrol", "requeue", job.id])
    rig.seen(launched, Phase.PENDING)
    assert "Slurm took its nodes and queued it again." in pages.text(launched)
    shown = followed(rig, launched)
    assert (shown.phase, shown.attempt) == (Phase.COMPLETED, 1)
    starts = [one for one in rig.engine.logs(launched.handle, run=1) if one.rank == 0]
    assert [one.start for one in starts] == [0, 1]


def test_a_preempted_job_waits_and_then_goes_on(rig: SlurmRig, pages: Pages) -> None:
    script = '[ "$ATTEMPT" = 0 ] && exec sleep 600; echo second'
    low = rig.of_all_cores(script, priority_class=PriorityClass.LOW)
    rig.submit(low)
    rig.seen(low, Phase.RUNNING)
    high = rig.of_all_cores("sleep 2", priority_class=PriorityClass.HIGH)
    rig.submit(high)
    shown = rig.seen(low, Phase.PENDING, *TERMINAL)
    assert (shown.phase, shown.reason) == (Phase.PENDING, Reason.PREEMPTED)
    assert "gave its nodes to a job with a better claim" in pages.text(low)
    assert rig.over(high).phase is Phase.COMPLETED
    assert followed(rig, low).phase is Phase.COMPLETED


def test_a_time_limit_is_told_to_the_ranks_and_on_the_page(rig: SlurmRig, pages: Pages) -> None:
    script = "trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done"
    launched = rig.shell(script, time_limit_seconds=3, termination_grace_period_seconds=20)
    shown = rig.over(rig.submit(launched))
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert printed(rig.engine, launched, 1).endswith(b"saved\n")
    assert "It reached its time limit of 3 s." in pages.text(launched)


def test_a_script_that_slurm_ends_had_its_signal_before(rig: SlurmRig, pages: Pages) -> None:
    """Slurm looks at time limits every 30 seconds, so that the end is set to be now."""
    text = """#!/bin/sh
#SBATCH --ntasks=1 --time=9 --signal=USR1@60
srun bash -c 'trap "echo warned" USR1; echo ready; while :; do sleep 0.1; done'
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert printed(rig.engine, launched, 0, until=b"ready")
    (job,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
    rig.testbed.update(f"jobid={job.id}", "endtime=now")
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert b"warned" in printed(rig.engine, launched, 0)
    assert "It reached the time limit of its Slurm job." in pages.text(launched)


def test_a_running_job_is_watched_through_a_restart_of_the_controller(
    rig: SlurmRig, pages: Pages
) -> None:
    launched = rig.submit(rig.shell("sleep 20"))
    rig.seen(launched, Phase.RUNNING)
    saved(rig)
    pages.text(launched)
    with without("slurmctld"):
        with pytest.raises(EngineUnavailable):
            rig.engine.observe(launched.handle)
        said = pages.text(launched)
        assert "is disconnected. This is the last known state." in said
        assert "Unable to contact slurm controller" in said
    assert rig.over(launched).phase is Phase.COMPLETED
    watch = rig.engine.watch()
    assert Phase.COMPLETED in {it.phase for it in listed(watch)}
    watch.close()


def test_a_gang_whose_node_is_cut_off_starts_elsewhere_and_its_old_ranks_change_nothing(
    rig: SlurmRig, pages: Pages
) -> None:
    """What runs on the other side still has the shared directory, and fails after the new start."""
    script = """
echo $ATTEMPT
[ "$ATTEMPT" = 0 ] || exec sleep 3
until [ "$(cat $CHECKPOINT_DIR/../runs/1/restart)" = 1 ]; do sleep 0.1; done
exit 5"""
    launched = rig.submit(rig.of_all_cores(script, ranks=2))
    node = rig.seen(launched, Phase.RUNNING).ranks[0].node
    run("cut", node)
    rig.testbed.give_up(node)
    try:
        rig.seen(launched, Phase.PENDING)
        assert "failed, so Slurm queued it again." in pages.text(launched)
        ended = followed(rig, launched)
    finally:
        run("mend", node)
        run("kill", "node", node)  # with what still runs there
        run("start", "node", node)
    assert (ended.phase, ended.attempt) == (Phase.COMPLETED, 1)
    assert node not in {rank.node for rank in ended.ranks}
    assert printed(rig.engine, launched) == b"0\n"
    assert {one.start for one in rig.engine.logs(launched.handle, run=1)} == {0, 1}


def test_a_job_whose_node_dies_for_good_says_so(rig: SlurmRig, pages: Pages) -> None:
    """A script that forbids to start it again."""
    text = "#!/bin/sh\n#SBATCH --ntasks=1 --no-requeue\nsrun sleep 600\n"
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    node = rig.seen(launched, Phase.RUNNING).ranks[0].node
    run("kill", "node", node)
    rig.testbed.give_up(node)
    try:
        shown = rig.over(launched)
    finally:
        run("start", "node", node)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.LOST)
    assert "A node of it failed, and Slurm did not start it again." in pages.text(launched)


def followed(rig: SlurmRig, launched: Launch) -> Observation:
    """Its end, before which no other is told."""
    shown: list[Observation] = []

    def is_over() -> bool:
        now = rig.engine.observe(launched.handle)
        shown.extend([now] if now else [])
        return bool(now and now.phase in TERMINAL | {Phase.STOPPED})

    wait_for(is_over, 3 * DEADLINE, "it to end", every=0.2)
    assert [it.sequence for it in shown] == sorted(it.sequence for it in shown)
    return shown[-1]
