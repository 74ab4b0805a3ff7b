"""Limits are held for all that a rank starts, by the kernel or the supervisor, and named."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engines.base import Launch
from engines.local.system import cgroups, exit
from engines.local.system.sampling import private_memory
from spec.parts.compute import Compute
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Replica
from tests.engines.local.conftest import LocalRig
from tests.engines.local.gangs import started_gang
from tests.waiting import wait_for

HOG = """
import os, time
if os.environ.get("RANK", "1") == "1":
    eaten = bytearray(300_000_000)
time.sleep(60)
"""
PYTHON = f"{sys.executable} hog.py"
#: Ways to eat too much, by what the first process of the rank is to it.
FAMILIES = {
    "itself": PYTHON,
    "parent": f"sh -c '{PYTHON}'",
    "parent in another session": f"sh -c 'setsid {PYTHON} & wait'",
    "parent that does not mind": f"sh -c '{PYTHON}; sleep 60'",
    "parent that succeeds anyway": f"sh -c '{PYTHON} || true'",
    "stranger": f"sh -c '(env -i setsid {PYTHON} &); sleep 60'",
}


def limited(rig: LocalRig, folder: Path, command: str, **limits: Any) -> Launch:
    (folder / "hog.py").write_text(HOG)
    compute = Compute(**limits)
    worker = Replica(image="any", command=command, working_dir=str(folder), compute=compute)
    return rig.shell("", worker=worker)


def hungry(rig: LocalRig, folder: Path, family: str) -> Launch:
    return limited(rig, folder, FAMILIES[family], cpu_memory_limit="100M")


@pytest.fixture
def groups() -> None:
    probe = cgroups.create("probe-0-0", cpu=0.2, memory=100_000_000)
    probe.remove()
    if not (probe.cpu and probe.memory):
        pytest.skip("no control group may be made here")


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_kernel_ends_a_rank_over_its_memory_limit(
    rig: LocalRig, tmp_path: Path, family: str
) -> None:
    launched = rig.submit(hungry(rig, tmp_path, family))
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.OUT_OF_MEMORY)
    assert "used more memory than its limit of 100 MB" in seen.message
    assert rig.processes(launched) == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_the_supervisor_holds_the_limit_where_there_is_no_control_group(
    rig: LocalRig, tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "create", lambda *_, **__: cgroups.Cgroup(None, None))
    with started_gang(rig, hungry(rig, tmp_path, family)) as (gang, tending):
        wait_for(lambda: tending.tick() and gang.reap(), 20)
        over = [member for member in gang.members if member.kill_reason]
        assert over
        gang.kill()  # waits: ranks killed together need not be gone at one glance
        for member in over:
            assert member.record.reason is Reason.OUT_OF_MEMORY
            assert "more than its limit of 100 MB" in member.record.message


def test_the_supervisor_holds_the_limit_where_the_kernel_lets_nobody_in(
    rig: LocalRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "group"
    (closed / "cgroup.procs").mkdir(parents=True)  # cannot be written
    monkeypatch.setattr(cgroups, "create", lambda *_, **__: cgroups.Cgroup(closed, None))
    with started_gang(rig, hungry(rig, tmp_path, "parent")) as (gang, tending):
        assert all(member.watches_memory for member in gang.members)
        wait_for(lambda: tending.tick() and gang.reap(), 20)
        assert gang.record.ranks[1].phase is RankPhase.FAILED
        assert gang.record.ranks[1].reason is Reason.OUT_OF_MEMORY


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("loop", ["while :; do :; done", "while :; do :; done & wait"])
def test_the_kernel_holds_the_processor_limit(rig: LocalRig, tmp_path: Path, loop: str) -> None:
    limits = {"cpu_core_request": 0.1, "cpu_core_limit": 0.2}
    launched = rig.submit(limited(rig, tmp_path, f"sh -c '{loop}'", **limits))
    usage = rig.engine.usage
    wait_for(lambda: len(usage(launched.handle, run=1, after=None)) >= 4, 15)
    assert all((sample.cpu or 0) < 0.35 for sample in usage(launched.handle, run=1, after=None))


def test_memory_that_ranks_share_counts_once(tmp_path: Path) -> None:
    assert 0 < private_memory(tmp_path, 0, os.getpid()) < 2 * 10**9


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (1, "exited with code 1"),
        (127, "exited with code 127: the command was not found"),
        (143, "exited with code 143, as after signal 15 (SIGTERM)"),
        (-9, "was ended by signal 9 (SIGKILL)"),
    ],
)
def test_ends_are_told_in_words(code: int, said: str) -> None:
    assert exit.describe_exit(code) == said
