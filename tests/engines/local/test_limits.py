"""Limits are held, by the kernel or by the supervisor, and the cause is named."""

import os
from pathlib import Path

import pytest

from engines.local import cgroups, machine, words
from engines.local.gang import Gang
from engines.local.sampling import private_memory
from engines.local.state import Record
from engines.local.tending import Tending
from spec.compute import Compute
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Replica
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

GREEDY = (
    "import os, time\nif os.environ['RANK'] == '1': eaten = bytearray(300_000_000)\ntime.sleep(60)"
)


def greedy(rig: LocalRig) -> Replica:
    command = rig.python(GREEDY).spec.worker.command
    return Replica(image="any", command=command, compute=Compute(cpu_memory_limit="100M"))


def test_a_rank_over_its_memory_limit_is_ended_and_named(rig: LocalRig) -> None:
    seen = rig.over(rig.submit(rig.shell("", worker=greedy(rig))))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.OUT_OF_MEMORY)
    assert seen.message.startswith("worker-0 (rank 1) used ")
    assert "limit of 100 MB" in seen.message


def test_the_supervisor_holds_the_limit_where_the_kernel_does_not(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "make", lambda *_, **__: cgroups.Cgroup(None, None))
    launched = rig.shell("", worker=greedy(rig))
    plan, folder = rig.engine.plan(launched), rig.folder(launched)
    folder.prepare(1)
    record = Record.of(plan)
    gang = Gang(folder, plan, record)
    tending = Tending(folder, plan, gang)
    gang.start()
    try:
        wait_for(lambda: tending.tick() and gang.reap(), 20)
    finally:
        gang.kill()
        gang.close()
    assert record.ranks[1].reason is Reason.OUT_OF_MEMORY
    assert "more than its limit of 100 MB" in record.ranks[1].message
    assert record.ranks[0].phase is RankPhase.FAILED  # ended by this test


def test_the_kernel_holds_the_processor_limit(rig: LocalRig) -> None:
    probe = cgroups.make("probe-0-0", cpu=0.2, memory=None)
    probe.remove()
    if probe.cpu is None:
        pytest.skip("no control group may be made here")
    command = rig.python("while True: pass").spec.worker.command
    compute = Compute(cpu_core_request=0.1, cpu_core_limit=0.2)
    worker = Replica(image="any", command=command, compute=compute)
    launched = rig.submit(rig.shell("", worker=worker, architecture="workers_only"))
    usage = rig.engine.usage
    wait_for(lambda: len(usage(launched.handle, run=1, after=None)) >= 2, 15)
    assert all((sample.cpu or 0) < 0.35 for sample in usage(launched.handle, run=1, after=None))


def test_memory_that_ranks_share_counts_once() -> None:
    assert 0 < private_memory(os.getpid()) < 2 * 10**9


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
    assert words.ended(code) == said


def test_version_2_groups_are_made_below_who_hands_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    (tmp_path / "slice/unit").mkdir(parents=True)
    (tmp_path / "slice/cgroup.subtree_control").write_text("cpu memory")
    (tmp_path / "slice/unit/cgroup.subtree_control").write_text("")
    own = tmp_path / "own"
    own.write_text("0::/slice/unit\n")
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "OWN", own)
    made = cgroups.make("w-1-0", cpu=0.5, memory=1000)
    assert made.folders == [tmp_path / "slice/trainyard-w-1-0"]
    assert (made.folders[0] / "cpu.max").read_text() == "50000 100000"
    assert (made.folders[0] / "memory.max").read_text() == "1000"
    assert not made.ran_out_of_memory()
    (made.folders[0] / "memory.events").write_text("oom 1\noom_kill 1\n")
    assert made.ran_out_of_memory()


def test_where_none_can_be_made_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "OWN", tmp_path / "absent")
    assert cgroups.make("w-1-0", cpu=1, memory=1000).folders == []


def test_gpus_are_read_from_nvidias_tool() -> None:
    table = "0, NVIDIA H100 80GB HBM3, 81559\n1, GB10, [N/A]\n"
    [gpu] = machine.parse_gpus(table)
    assert (gpu.index, gpu.model, gpu.memory) == (0, "NVIDIA H100 80GB HBM3", 81559 * 1024**2)


def test_virtual_gpus_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "real_gpus", tuple)
    node = machine.node(4)
    assert len(node.gpus) == 4
    assert all(gpu.virtual for gpu in node.gpus)
    assert machine.node(0).gpus == ()
