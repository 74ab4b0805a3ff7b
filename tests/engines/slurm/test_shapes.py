"""Gangs of every shape on a real Slurm: masters unlike the workers, torchrun, MPI, TensorFlow."""

import json
from dataclasses import replace

import pytest

from engines.base import Launch
from engines.slurm.client import files
from engines.slurm.engine import SlurmEngine
from spec.framework import Framework
from spec.parts.compute import Compute
from spec.phases import Phase, Reason
from spec.workload import Replica
from tests.e2e import hpc
from tests.engines.contract import launch
from tests.engines.reading import printed
from tests.engines.slurm.rig import SlurmRig
from tests.waiting import wait_for

pytestmark = pytest.mark.slurm
TRAINED = 180.0  # seconds: two cores import torch six times, beside other tests
ALL_TOGETHER = """
import os, torch, torch.distributed as gang
gang.init_process_group("gloo")
rank, total = gang.get_rank(), torch.tensor([gang.get_rank() + 1])
gang.all_reduce(total)
said = f"{rank} of {gang.get_world_size()}, {os.environ['LOCAL_RANK']} here: {int(total)}\\n"
os.write(1, said.encode())  # at once, for another process writes to this file
gang.barrier()
gang.destroy_process_group()
"""
# The numbers are MPICH's for MPI_COMM_WORLD, MPI_INT and MPI_SUM.
#: It ends without MPI_Finalize: where nodes share a kernel, UCX now and then waits there for a peer
#: that is gone.
BY_PMI = """
import ctypes, os
mpi = ctypes.CDLL("libmpich.so.12")
mpi.MPI_Init(None, None)
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
mpi.MPI_Comm_size(0x44000000, ctypes.byref(size))
mpi.MPI_Allreduce(
    ctypes.byref(rank), ctypes.byref(total), 1, 0x4C000405, 0x58000003, 0x44000000
)
os.write(1, f"rank {rank.value} of {size.value}: {total.value}\\n".encode())  # at once
os._exit(0)
"""


def unlike(rig: SlurmRig, script: str, framework: Framework = Framework.PYTORCH) -> Launch:
    """One master of two cores, two workers with a GPU each."""
    launched = rig.shell(script, num_workers=2, distributed_framework=framework)
    worker = launched.spec.worker.model_copy(update={"compute": Compute(gpu_devices_request=1)})
    master = worker.model_copy(update={"compute": Compute(cpu_core_request=2)})
    spec = launched.spec.model_copy(update={"worker": worker, "master": master})
    return replace(launched, spec=spec)


def test_a_master_unlike_its_workers_is_part_of_one_job(rig: SlurmRig) -> None:
    script = (
        'echo "$RANK $OMP_NUM_THREADS [$CUDA_VISIBLE_DEVICES] $MASTER_ADDR"; '
        "trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done"
    )
    launched = rig.submit(unlike(rig, script))
    shown = rig.seen(launched, Phase.RUNNING)
    assert len({rank.node for rank in shown.ranks[:2]}) == 2
    lines = [printed(rig.engine, launched, rank, until=b"\n").decode().split() for rank in range(3)]
    assert [line[:2] for line in lines] == [["0", "2"], ["1", "1"], ["2", "1"]]
    assert [line[2] != "[]" for line in lines] == [False, True, True]
    assert len({line[3] for line in lines}) == 1
    session = rig.engine.exec(launched.handle, rank=2, argv=["/bin/sh", "-c", "echo at $RANK"])
    session.stream.settimeout(20)
    text = b""
    while b"at 2" not in text:
        more = session.stream.recv(1000)
        assert more, session.trouble
        text += more
    session.close()
    rig.engine.stop(launched.handle, run=1)
    ended = rig.over(launched)
    assert (ended.phase, ended.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    assert b"saved\n" in printed(rig.engine, launched, 2)


def test_the_rank_of_an_unlike_gang_that_fails_is_named(rig: SlurmRig) -> None:
    launched = rig.submit(unlike(rig, "[ $RANK = 2 ] && exit 3; exec sleep 60"))
    shown = rig.over(launched)
    assert shown.message == "worker-1 (rank 2) exited with code 3."
    rig.engine.delete(launched.handle)
    assert rig.engine.observe(launched.handle) is None


def test_tensorflow_finds_its_gang_by_addresses_that_the_script_collects(rig: SlurmRig) -> None:
    launched = rig.submit(unlike(rig, 'echo "$TF_CONFIG"', Framework.TENSORFLOW))
    assert rig.over(launched).phase is Phase.COMPLETED
    chief, first, second = (
        json.loads(printed(rig.engine, launched, rank).decode()) for rank in range(3)
    )
    assert chief["cluster"] == first["cluster"] == second["cluster"]
    assert [len(chief["cluster"][role]) for role in ("chief", "worker")] == [1, 2]
    places = [*chief["cluster"]["chief"], *chief["cluster"]["worker"]]
    assert len(set(places)) == 3
    tasks = [(it["task"]["type"], it["task"]["index"]) for it in (chief, first, second)]
    assert tasks == [("chief", 0), ("worker", 0), ("worker", 1)]


def program(rig: SlurmRig, text: str) -> str:
    """Its path, where all nodes have it."""
    path = f"{rig.site.directory}/program.py"
    answer = files.run_program(rig.transport, 'cat > "$1"', path, stdin=text.encode())
    files.output_of(answer, path)
    return path


def test_torchrun_joins_the_processes_of_all_ranks(rig: SlurmRig) -> None:
    path = program(rig, ALL_TOGETHER)
    site = replace(rig.site, prologue=hpc.prologue())
    rig.engine = SlurmEngine(rig.transport, site, interval=0.5)
    worker = Replica(command=f"torchrun {path}", compute=Compute(cpu_memory_limit="3G"))
    launched = rig.submit(launch(worker=worker, processes_per_pod=2))
    wait_for(lambda: rig.is_over(launched), TRAINED, "torch on all nodes", every=0.5)
    for rank in (0, 1):
        first = 2 * rank
        lines = printed(rig.engine, launched, rank).decode().splitlines()
        said = sorted(line for line in lines if " of 4" in line)
        assert said == [f"{first + local} of 4, {local} here: 10" for local in (0, 1)], lines


def mpi(rig: SlurmRig, script: str) -> Launch:
    """Two workers of two processes each."""
    launched = rig.shell(
        script, distributed_framework=Framework.MPI, num_workers=2, slots_per_worker=2
    )
    worker = Replica(command=launched.spec.worker.command, compute=Compute(cpu_core_request=4))
    return replace(launched, spec=launched.spec.model_copy(update={"worker": worker}))


def test_a_launcher_starts_the_workers_by_mpirun(rig: SlurmRig) -> None:
    if rig.transport.run(["sh", "-c", "command -v mpirun"]).code:
        pytest.skip("no mpirun on the login node")
    ranks = "'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)$RANK'"
    launched = rig.submit(mpi(rig, f'mpirun sh -c "{ranks[1:-1]}"'.replace("$", "\\$")))
    shown = rig.over(launched)
    assert shown.phase is Phase.COMPLETED, shown
    lines = sorted(printed(rig.engine, launched).decode().split("\n"))[1:]
    nodes = [rank.node for rank in shown.ranks]
    assert lines == [f"rank {number} of 4 on {nodes[1 + number // 2]}" for number in range(4)]
    assert [rank.exit_code for rank in shown.ranks] == [0, 0, 0]


def test_processes_that_srun_starts_meet_by_its_pmi(rig: SlurmRig) -> None:
    if rig.transport.run(["sh", "-c", "/sbin/ldconfig -p | grep libmpich.so.12"]).code:
        pytest.skip("no MPICH on the login node")
    # The nodes of the testbed have one kernel: UCX takes them for one machine, with one memory and
    # one loopback device.
    ucx = "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0"
    line = f"env {ucx} srun --mpi=pmi2 python3 {program(rig, BY_PMI)}"
    launched = rig.submit(mpi(rig, line))
    shown = rig.over(launched)
    lines = sorted(printed(rig.engine, launched).decode().splitlines())
    assert shown.phase is Phase.COMPLETED, lines
    assert lines == [f"rank {number} of 4: 6" for number in range(4)]


def test_a_launcher_starts_the_workers_by_srun_and_is_stopped_with_them(rig: SlurmRig) -> None:
    script = "srun sh -c 'echo on; exec sleep 600'"
    launched = rig.submit(mpi(rig, script.replace("'", '"')))
    rig.seen(launched, Phase.RUNNING)
    wait_for(lambda: printed(rig.engine, launched, 0, until=b"on").count(b"on") == 4, 20)
    rig.engine.stop(launched.handle, run=1)
    shown = rig.over(launched)
    assert (shown.phase, len(shown.ranks)) == (Phase.STOPPED, 3)
    failed = rig.submit(mpi(rig, "exit 4"))
    assert rig.over(failed).message == "master-0 (rank 0) exited with code 4."
