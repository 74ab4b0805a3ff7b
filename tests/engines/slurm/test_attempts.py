"""Jobs that Slurm ends or starts again: queued anew, preempted, out of time, without their node."""

import pytest

from engines.base import Launch, Observation
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import squeue
from spec.parts.scheduling import PriorityClass
from spec.phases import TERMINAL, Phase, Reason
from tests.engines.contract import DEADLINE, launch
from tests.engines.reading import printed
from tests.engines.slurm import cases
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.slurm_testbed import run
from tests.waiting import wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("watched")]


def test_a_requeued_job_is_the_next_attempt_of_its_run(rig: SlurmRig, pages: Pages) -> None:
    script = '[ "$ATTEMPT" = 0 ] && exec sleep 600; echo second'
    launched = rig.submit(rig.shell(script))
    rig.seen(launched, Phase.RUNNING)
    (job,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
    rig.transport.run(["scontrol", "requeue", job.id])
    rig.seen(launched, Phase.PENDING)
    assert "It was queued again, by its script or by someone" in pages.text(launched)
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


def test_a_script_out_of_time_gets_its_signal_and_says_so(rig: SlurmRig, pages: Pages) -> None:
    """Slurm looks at time limits every 30 seconds, so that the end is set to be now; the signal and
    the end come at one look."""
    text = """#!/bin/sh
#SBATCH --ntasks=1 --time=9 --signal=USR1@60
srun bash -c 'trap "echo warned" USR1; trap : TERM; echo ready; while :; do sleep 0.1; done'
"""
    launched = rig.submit(cases.as_written(text, launch("true").handle))
    assert printed(rig.engine, launched, 0, until=b"ready")
    (job,) = squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)])
    rig.testbed.update(f"jobid={job.id}", "endtime=now")
    shown = rig.over(launched)
    assert (shown.phase, shown.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert b"warned" in printed(rig.engine, launched, 0)
    assert "It reached the time limit of its Slurm job." in pages.text(launched)


def test_a_gang_with_a_lost_node_restarts_and_old_ranks_change_nothing(
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
