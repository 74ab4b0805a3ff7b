"""A real mpirun starts the ranks of MPI on the workers of this machine."""

import shutil

import pytest

from engines.base import Launch
from engines.local.planning.planner import complaints
from spec.framework import Framework
from spec.phases import Phase
from spec.problems.errors import path_text
from spec.values.variable import EnvironmentVariable as Variable
from spec.workload import Architecture, Replica
from tests.engines.local.conftest import IMAGES, LocalRig

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no Open MPI here")
RANKS = "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $POD_NAME"
#: As containers need it, where this user is root.
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def launched(rig: LocalRig, script: str, **fields: object) -> Launch:
    launch = rig.shell(script, distributed_framework=Framework.MPI, num_workers=2, **fields)
    variables = tuple(Variable(name=name, value="1") for name in AS_ROOT)
    worker = launch.spec.worker.model_copy(update={"environment_variables": variables})
    spec = launch.spec.model_copy(update={"worker": worker})
    return Launch(launch.handle, launch.run, spec)


def test_mpirun_starts_a_rank_in_each_slot_of_the_workers(rig: LocalRig) -> None:
    launch = launched(rig, f"exec mpirun sh -c '{RANKS}'", slots_per_worker=2)
    seen = rig.over(rig.submit(launch))
    log = rig.log(launch)
    assert seen.phase is Phase.COMPLETED, log
    assert [rank.exit_code for rank in seen.ranks] == [0, 0, 0]
    name = launch.handle.name
    assert sorted(log.splitlines()) == [f"{n} of 4 on {name}-worker-{n // 2}" for n in range(4)]
    assert rig.processes(launch) == 0


def test_a_rank_that_fails_fails_the_launcher_and_the_workload(rig: LocalRig) -> None:
    launch = launched(rig, "exec mpirun sh -c 'exit 7'", backoff_limit=0)
    seen = rig.over(rig.submit(launch))
    assert seen.phase is Phase.FAILED
    assert seen.message.startswith("master-0 (rank 0) exited with code 7")
    assert rig.processes(launch) == 0


def test_a_workload_whose_workers_have_a_program_but_no_launcher_is_refused(
    rig: LocalRig,
) -> None:
    launch = launched(rig, "true", master=Replica(image="any", command="mpirun true"))
    assert [path_text(it.path) for it in complaints(launch, IMAGES)] == ["worker.command"]
    alone = launched(rig, "true", architecture=Architecture.WORKERS_ONLY)
    assert [path_text(it.path) for it in complaints(alone, IMAGES)] == ["architecture"]
