"""A gang that ran for as long as it may is ended by its supervisor, and is not tried again."""

import signal
from dataclasses import replace

from engines.local.records.state import Record
from spec.phases import Phase, RankPhase, Reason
from tests.engines.local.conftest import LocalRig
from tests.engines.local.supervisors import kill_supervisor
from tests.waiting import wait_for

REACHED = "It reached its time limit of 1 s."
SAVES = "trap 'echo saved; exit 0' TERM; echo begun; while :; do sleep 0.05; done"


def test_a_gang_ends_at_its_time_limit_with_time_to_save(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(SAVES, time_limit_seconds=1, backoff_limit=3))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert (seen.message, seen.attempt) == (REACHED, 0)
    assert {rank.phase for rank in seen.ranks} == {RankPhase.STOPPED}
    assert rig.log(launched).splitlines()[-1] == "saved"
    first = seen.ranks[0].started_at
    last = seen.ranks[0].finished_at
    assert first
    assert last
    assert 0.9 < (last - first).total_seconds() < 5
    assert rig.processes(launched) == 0


def test_a_gang_at_its_time_limit_that_does_not_end_is_killed(rig: LocalRig) -> None:
    deaf = "trap '' TERM; while :; do sleep 0.05; done"
    stubborn = {"time_limit_seconds": 1, "termination_grace_period_seconds": 0}
    seen = rig.over(rig.submit(rig.shell(deaf, **stubborn)))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert seen.ranks[0].exit_code == -signal.SIGKILL


def test_a_gang_that_is_done_before_its_time_limit_has_completed(rig: LocalRig) -> None:
    seen = rig.over(rig.submit(rig.shell("true", time_limit_seconds=60)))
    assert (seen.phase, seen.reason) == (Phase.COMPLETED, Reason.NONE)


def test_time_of_earlier_runs_counts(rig: LocalRig) -> None:
    launched = replace(rig.shell("sleep 60", time_limit_seconds=1000), ran=999.5)
    seen = rig.over(rig.submit(launched))
    assert seen.message == "It reached its time limit of 16 min 40 s."


def test_time_of_earlier_attempts_counts(rig: LocalRig) -> None:
    script = 'sleep 0.6; [ "$RANK" = 1 ] && exit 3; sleep 60'
    launched = rig.submit(rig.shell(script, time_limit_seconds=1, backoff_limit=5))
    seen = rig.over(launched)
    assert (seen.reason, seen.attempt) == (Reason.DEADLINE_EXCEEDED, 1)


def test_time_under_a_supervisor_that_was_killed_counts(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell("sleep 60", time_limit_seconds=60, backoff_limit=3))
    usage = rig.engine.usage
    wait_for(lambda: len(usage(launched.handle, run=1, after=None)) >= 4, 20)
    kill_supervisor(rig, launched)
    wait_for(lambda: rig.engine.observe(launched.handle) and rig.attempt(launched) == 1, 20)
    record = Record.read(rig.folder(launched))
    assert record
    assert 0.5 < record.ran < 20
