"""A disk without a byte: what happens meanwhile is kept, and told as it was when there is room."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from engines.base import EngineUnavailable, Handle, Launch
from engines.local import supervisors
from engines.local.records import journal
from engines.local.records.layout import hold_lock, write_json
from engines.local.records.state import Record
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Architecture
from tests.disks import fill, small_disk
from tests.engines.local.conftest import LocalRig
from tests.engines.local.supervisors import supervisor_of
from tests.waiting import wait_for

MEGABYTES = 8
#: Waits for a file on another disk, for none can be written on this one.
GATE = "while [ ! -e {gate} ]; do sleep 0.02; done; "


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "go"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[LocalRig]:
    """An engine on a small disk of its own."""
    mount_point = tmp_path / "small"
    mount_point.mkdir()
    with small_disk(mount_point, MEGABYTES) as disk:
        rig = LocalRig(disk / "engine")
        yield rig
        (disk / "filler").unlink(missing_ok=True)
        for path in (rig.home / "workloads").glob("*"):
            rig.engine.delete(Handle(UUID(path.name), "", ""))


def written(rig: LocalRig, launched: Launch) -> Phase | None:
    record = Record.read(rig.folder(launched))
    return record.phase if record else None


def gated(rig: LocalRig, gate: Path, then: str, **fields: Any) -> Launch:
    return rig.shell(GATE.format(gate=gate) + then, **fields)


@pytest.mark.parametrize(
    ("then", "phase", "code", "message"),
    [
        ("exit 0", Phase.COMPLETED, 0, ""),
        ("exit $((3 * RANK))", Phase.FAILED, 3, "worker-0 (rank 1) exited with code 3."),
    ],
)
def test_ranks_that_end_without_room_are_told_as_they_ended(
    small: LocalRig, gate: Path, then: str, phase: Phase, code: int, message: str
) -> None:
    if code:
        then = f"[ $RANK = 0 ] && sleep 60; {then}"
    launched = small.submit(gated(small, gate, then))
    small.seen(launched, Phase.RUNNING)
    supervisor = supervisor_of(small, launched)
    filler = fill(small.home.parent)
    gate.touch()
    wait_for(lambda: small.processes(launched) == 0, 30, "the ranks to end")
    assert written(small, launched) is Phase.RUNNING
    assert supervisor.is_running()
    filler.unlink()
    over = small.over(launched)
    assert (over.phase, over.attempt, over.message) == (phase, 0, message)
    assert over.ranks[1].exit_code == code
    assert over.reason is not Reason.LOST


def test_a_rank_that_ends_without_room_does_not_end_the_others(small: LocalRig, gate: Path) -> None:
    launched = small.submit(gated(small, gate, "[ $RANK = 0 ] && exec sleep 60; exit 0"))
    small.seen(launched, Phase.RUNNING)
    filler = fill(small.home.parent)
    gate.touch()
    wait_for(lambda: small.processes(launched) == 1, 30, "rank 1 to end")
    assert {rank.phase for rank in small.ranks(launched)} == {RankPhase.RUNNING}
    filler.unlink()
    wait_for(lambda: small.ranks(launched)[1].phase is RankPhase.SUCCEEDED, 15, "its end")
    assert small.ranks(launched)[0].phase is RankPhase.RUNNING


def test_no_attempt_starts_or_is_used_up_without_room(small: LocalRig, gate: Path) -> None:
    then = '[ -e "$CHECKPOINT_DIR/again" ] && exit 0; touch "$CHECKPOINT_DIR/again"; exit 1'
    alone = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}
    launched = small.submit(gated(small, gate, then, backoff_limit=1, **alone))
    small.seen(launched, Phase.RUNNING)
    filler = fill(small.home.parent)
    gate.touch()
    wait_for(lambda: small.processes(launched) == 0, 30, "the first attempt to end")
    freed = datetime.now(UTC)
    filler.unlink()
    over = small.over(launched)
    assert (over.phase, over.attempt) == (Phase.COMPLETED, 1)
    started = over.ranks[0].started_at
    assert started
    assert started > freed


def test_no_rank_starts_before_it_can_be_written_down(small: LocalRig) -> None:
    launched = small.prints()
    folder = small.folder(launched)
    folder.create_run(1)
    write_json(folder.launch, small.engine.plan(launched).to_json(), scratch=folder.path)
    filler = fill(small.home.parent)
    supervisors.start(folder)
    wait_for(lambda: is_held(folder.supervisor_lock), 15, "the supervisor to be there")
    assert Record.read(folder) is None
    freed = datetime.now(UTC)
    filler.unlink()
    over = small.over(launched)
    assert (over.phase, over.attempt) == (Phase.COMPLETED, 0)
    assert all(rank.started_at and rank.started_at > freed for rank in over.ranks)


def is_held(lock: Path) -> bool:
    try:
        with hold_lock(lock, wait=False):
            return False
    except BlockingIOError:
        return True


def test_a_submission_without_room_says_so_and_is_taken_later(small: LocalRig) -> None:
    small.over(small.submit(small.prints()))
    filler = fill(small.home.parent)
    launched = small.prints()
    with pytest.raises(EngineUnavailable, match=r"^The disk of the local engine is full"):
        small.submit(launched)
    filler.unlink()
    assert small.over(small.submit(launched)).phase is Phase.COMPLETED


def test_a_workload_is_deleted_without_room(small: LocalRig, gate: Path) -> None:
    launched = small.submit(gated(small, gate, "exit 0"))
    small.seen(launched, Phase.RUNNING)
    fill(small.home.parent)
    gate.touch()
    wait_for(lambda: small.processes(launched) == 0, 30, "the ranks to end")
    supervisor = supervisor_of(small, launched)
    small.engine.delete(launched.handle)
    wait_for(lambda: not supervisor.is_running(), 10, "its supervisor to be gone")
    assert small.engine.observe(launched.handle) is None


def test_errors_that_room_does_not_help_are_no_full_disk() -> None:
    assert journal.is_full(OSError(28, "No space left on device"))
    assert not journal.is_full(FileNotFoundError(2, "gone"))
