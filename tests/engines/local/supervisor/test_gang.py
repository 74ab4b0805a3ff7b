"""How gangs start, fail, restart and succeed."""

import os
from pathlib import Path

import pytest

from engines.base import Observation
from engines.local.system import ports
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Replica
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for


def test_a_gang_starts_whole_or_not_at_all(rig: LocalRig, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    master = Replica(image="any", command="/bin/sh -c 'trap \"\" TERM; sleep 60'")
    worker = Replica(image="any", command=str(broken))
    launched = rig.submit(rig.shell("", master=master, worker=worker, backoff_limit=3))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.COMMAND_NOT_FOUND)
    assert seen.message.startswith(f"worker-0 (rank 1) could not be started: {broken}")
    assert [rank.phase for rank in seen.ranks] == [RankPhase.STOPPED, RankPhase.FAILED]
    assert rig.processes(launched) == 0


def test_restarts_up_to_the_backoff_limit_then_names_the_first(rig: LocalRig) -> None:
    script = 'echo "try"; [ $RANK = 1 ] && exit 7; trap "exit 1" TERM; sleep 60 & wait'
    launched = rig.submit(rig.shell(script, backoff_limit=2))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason, seen.attempt) == (Phase.FAILED, Reason.RANK_FAILED, 2)
    assert seen.message == (
        "worker-0 (rank 1) exited with code 7. No attempts left (backoff limit 2)."
    )
    assert [rank.phase for rank in seen.ranks] == [RankPhase.STOPPED, RankPhase.FAILED]
    assert [rank.restarts for rank in seen.ranks] == [2, 2]
    assert [rig.log(launched, 1, attempt=attempt) for attempt in (0, 1, 2, 3)] == ["try\n"] * 3 + [
        ""
    ]


def test_a_restart_is_observed_with_its_cause(rig: LocalRig) -> None:
    script = 'if [ -e "$CHECKPOINT_DIR/$RANK" ]; then exit 0; fi; touch "$CHECKPOINT_DIR/$RANK"'
    script += "; [ $RANK = 0 ] && kill -9 $$; sleep 60"
    watch = rig.engine.watch()
    launched = rig.submit(rig.shell(script, backoff_limit=1))
    seen: list[Observation] = []
    while not seen or seen[-1].phase is not Phase.COMPLETED:
        observed = next(watch)
        seen += [observed] if observed else []
    causes = [s.message for s in seen if s.reason is Reason.RESTARTING]
    assert set(causes) <= {
        "master-0 (rank 0) was ended by signal 9 (SIGKILL). Attempt 2 of 2 follows."
    }
    assert seen[-1].attempt == 1
    rig.engine.delete(launched.handle)


def test_the_success_of_the_master_decides(rig: LocalRig) -> None:
    script = (
        '[ $RANK = 0 ] && exit 0; while [ ! -e "$CHECKPOINT_DIR/go" ]; do sleep 0.02; done; exit 4'
    )
    launched = rig.submit(rig.shell(script))
    wait_for(lambda: [rank.exit_code for rank in rig.ranks(launched)] == [0, None])
    (rig.folder(launched).checkpoints / "go").touch()
    seen = rig.over(launched)
    assert (seen.phase, seen.ranks[1].exit_code) == (Phase.COMPLETED, 4)
    assert "worker-0 exited with code 4" in seen.message


def test_every_rank_of_a_gang_without_a_master_must_succeed(rig: LocalRig) -> None:
    script = "exit $RANK"
    fields = {"architecture": "workers_only", "num_workers": 2}
    seen = rig.over(rig.submit(rig.shell(script, **fields)))
    assert seen.phase is Phase.FAILED
    assert "worker-1 (rank 1)" in seen.message


def test_processes_that_a_rank_leaves_behind_are_ended(rig: LocalRig) -> None:
    script = "setsid sleep 60 & sleep 60 & exit 0"
    launched = rig.submit(rig.shell(script))
    assert rig.over(launched).phase is Phase.COMPLETED
    wait_for(lambda: rig.processes(launched) == 0)


def test_each_rank_has_a_folder_and_shares_the_checkpoints(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell("pwd; echo $CHECKPOINT_DIR"))
    rig.over(launched)
    folder = rig.folder(launched)
    for rank, name in enumerate(["master-0", "worker-0"]):
        assert rig.log(launched, rank).split() == [
            str(folder.rank_folder(name)),
            str(folder.checkpoints),
        ]
    assert folder.path.stat().st_mode & 0o077 == 0


def test_ports_of_two_gangs_differ(tmp_path: Path) -> None:
    first, locks = ports.reserve(tmp_path, 3)
    second, also = ports.reserve(tmp_path, 3)
    with locks, also:
        assert len({*first, *second}) == 6


def test_no_descriptor_of_the_caller_reaches_a_rank(rig: LocalRig) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    launched = rig.submit(rig.shell("ls /proc/self/fd | tr '\\n' ' '"))
    rig.over(launched)
    os.close(reader)
    os.close(writer)
    assert rig.log(launched).split() == ["0", "1", "2", "3"]  # 3 is the listing itself
