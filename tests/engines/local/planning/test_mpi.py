"""A real mpirun starts the ranks of MPI on the workers of this machine."""

import shutil
from dataclasses import replace

import pytest

from config.settings import LOCAL_IMAGES
from engines.base import Launch, Observation
from engines.local.engine import LocalEngine
from engines.local.planning.lookup import Programs
from engines.local.planning.planner import complaints
from spec.framework import Framework
from spec.phases import Phase
from spec.problems.errors import path_text
from spec.values.variable import EnvironmentVariable as Variable
from spec.workload import Architecture, Replica
from tests.engines.local.conftest import IMAGES, LocalRig
from tests.engines.terminal import opened, until_end
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no Open MPI here")
RANKS = "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $POD_NAME"


def launched(rig: LocalRig, script: str, **fields: object) -> Launch:
    """A launch of MPI. Where this user is root, nothing says that mpirun may run as root."""
    return rig.shell(script, distributed_framework=Framework.MPI, num_workers=2, **fields)


def test_mpirun_starts_a_rank_in_each_slot_of_the_workers(rig: LocalRig) -> None:
    launch = launched(rig, f"exec mpirun sh -c '{RANKS}'", slots_per_worker=2)
    seen = rig.over(rig.submit(launch))
    log = rig.log(launch)
    assert seen.phase is Phase.COMPLETED, log
    assert [rank.exit_code for rank in seen.ranks] == [0, 0, 0]
    name = launch.handle.name
    assert sorted(log.splitlines()) == [f"{n} of 4 on {name}-worker-{n // 2}" for n in range(4)]
    assert rig.processes(launch) == 0


def test_the_file_of_hosts_is_where_the_operator_has_it(rig: LocalRig) -> None:
    script = f"cat /etc/mpi/hostfile; exec mpirun -hostfile /etc/mpi/hostfile sh -c '{RANKS}'"
    launch = launched(rig, script)
    seen = rig.over(rig.submit(launch))
    log = rig.log(launch)
    assert seen.phase is Phase.COMPLETED, log
    name = launch.handle.name
    assert log.splitlines()[:2] == ["worker-0 slots=1", "worker-1 slots=1"]
    assert {f"{n} of 2 on {name}-worker-{n}" for n in range(2)} <= set(log.splitlines())


@pytest.fixture
def quickstart(rig: LocalRig) -> Launch:
    """The launch of the first line of Run:ai's quickstart for MPI, without its pause."""
    rig.engine = LocalEngine(rig.home, images=LOCAL_IMAGES, virtual_gpus=4)
    launch = launched(rig, "true", backoff_limit=0)
    pause = Variable(name="RUNAI_SLEEP_SECS", value="0")
    image = "gcr.io/run-ai-demo/quickstart-distributed:v0.3.0"
    worker = Replica(image=image, environment_variables=(pause,))
    return replace(launch, spec=launch.spec.model_copy(update={"worker": worker}))


def test_the_image_of_run_ai_trains_on_all_workers(rig: LocalRig, quickstart: Launch) -> None:
    rig.submit(quickstart)

    def over() -> Observation | None:
        seen = rig.engine.observe(quickstart.handle)
        return seen if seen and seen.phase in {Phase.COMPLETED, Phase.FAILED} else None

    seen = wait_for(over, timeout=300, every=0.1)
    log = rig.log(quickstart)
    assert seen
    assert seen.phase is Phase.COMPLETED, log
    lines = log.splitlines()
    assert lines[:2] == ["Sleeping for 0 seconds", "Running with 2 workers"]
    assert any(line.startswith("Rank 1 of 2") for line in lines)


def test_arguments_replace_the_program_of_that_image(rig: LocalRig, quickstart: Launch) -> None:
    worker = quickstart.spec.worker.model_copy(update={"args": "sh -c 'echo $0 in a shell'"})
    spec = quickstart.spec.model_copy(update={"worker": worker})
    launch = replace(quickstart, spec=spec)
    seen = rig.over(rig.submit(launch))
    assert seen.phase is Phase.COMPLETED
    assert rig.log(launch) == "sh in a shell\n"


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
    assert [path_text(it.path) for it in complaints(launch, Programs(IMAGES))] == ["worker.command"]
    alone = launched(rig, "true", architecture=Architecture.WORKERS_ONLY)
    assert [path_text(it.path) for it in complaints(alone, Programs(IMAGES))] == ["architecture"]


def test_a_shell_in_the_launcher_starts_ranks_on_the_workers(
    rig: LocalRig, quickstart: Launch
) -> None:
    """The second line of the quickstart, and what it says to type then."""
    worker = quickstart.spec.worker.model_copy(update={"args": "sh -c 'echo ready; sleep 600'"})
    launch = replace(quickstart, spec=quickstart.spec.model_copy(update={"worker": worker}))
    rig.submit(launch)
    rig.seen(launch, Phase.RUNNING)
    # The shell gets the variables of the launcher's program, which has met the workers by then.
    wait_for(lambda: "ready" in rig.log(launch))
    options = "-np $RUNAI_MPI_NUM_WORKERS -hostfile /etc/mpi/hostfile"
    with opened(rig, launch, f"mpirun {options} printenv POD_NAME") as session:
        output = until_end(session).decode()
    name = launch.handle.name
    assert {f"{name}-worker-0", f"{name}-worker-1"} <= set(output.split())
    if not shutil.which("horovodrun"):
        with opened(rig, launch, f"horovodrun {options} python train.py") as session:
            output = until_end(session).decode()
        assert "pip install 'horovod[pytorch]'" in output
