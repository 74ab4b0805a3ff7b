"""What goes wrong on real clusters: nothing is lost, nothing comes twice, no phase goes back."""

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from engines.base import EngineUnavailable, Launch
from engines.slurm import submission
from engines.slurm.client.transport import TIMEOUT, CommandResult, Transport
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import squeue
from engines.slurm.watch import poll
from spec.phases import Phase
from tests.engines.reading import listed, printed
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.engines.slurm.watched import WatchedSite
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
    rig.transport.run(["sbatch", "--hold", "--wrap=true"])  # where nothing changed it saves nothing
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


def test_a_controller_stopped_during_a_submission_creates_one_job(
    rig: SlurmRig, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "IN_FLIGHT", timedelta(seconds=5))
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


def test_a_submission_that_never_arrived_is_repeated(
    rig: SlurmRig, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is there meanwhile, which is no sign that Slurm has a job for it."""
    monkeypatch.setattr(submission, "IN_FLIGHT", timedelta(seconds=5))
    launched = rig.prints()
    with without("slurmctld"):
        pages.hand_over(launched)
    assert "The cluster has not accepted it yet" in pages.text(launched)

    def is_given() -> bool:
        pages.hand_over(launched)
        return pages.show(launched).handed_over_at is not None

    wait_for(is_given, 90, "Slurm to accept it", every=0.5)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert "Completed" in pages.text(launched)
    assert jobs(rig, launched) == 1


def test_two_jobs_of_one_run_do_its_work_once(
    rig: SlurmRig, pages: Pages, watched: WatchedSite
) -> None:
    watched.most_jobs = 2  # here the test itself submits its script once more
    launched = rig.submit(rig.shell("echo hello; sleep 3"))
    rig.seen(launched, Phase.RUNNING)
    script = f"{rig.site.directory}/workloads/{launched.handle.workload_id.hex}/runs/1/batch.sh"
    rig.transport.run(["sbatch", script])
    assert rig.over(launched).phase is Phase.COMPLETED
    wait_for(lambda: all(it.is_over for it in squeue(rig.transport)), 30, "the other to end")
    assert printed(rig.engine, launched) == b"hello\n"
    assert {one.start for one in rig.engine.logs(launched.handle, run=1)} == {0}
    assert "Completed" in pages.text(launched)


def test_a_lost_job_is_not_confused_with_a_reused_number(
    rig: SlurmRig, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "MISSED_FOR", timedelta(seconds=1))
    rig.seen(rig.submit(rig.of_all_cores("exec sleep 600")), Phase.RUNNING)
    saved(rig)
    with crash_of_the_controller(rig):
        launched = rig.submit(rig.prints())
        pages.look(launched)
        (lost,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
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
def crash_of_the_controller(rig: SlurmRig) -> Iterator[None]:
    """Kill the controller, which forgets the meantime: it saves its state every five seconds, and
    later on a busy machine."""
    state = Path(rig.testbed.programs.conf).parent.parent / "state"
    aside = state.with_name("state-before")
    keeping = ["cp", "-a", str(state), str(aside)]  # with the owners of files
    shutil.rmtree(aside, ignore_errors=True)  # of a test that was cut: cp would copy into it
    subprocess.run(keeping, check=True)
    try:
        yield
    finally:
        run("kill", "slurmctld")
        shutil.rmtree(state)
        aside.rename(state)
        run("start", "slurmctld")


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
