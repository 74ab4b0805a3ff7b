"""Scripts with a trap for those who read them, run for real."""

import shutil
import sys

import pytest

from spec.imports.sbatch import import_script
from spec.phases import Phase, Reason
from tests.engines.local.batch.scripts import launch_text, run_script, wait_for_end
from tests.engines.local.conftest import LocalRig


def test_gpus_that_tasks_share_count_once(rig: LocalRig) -> None:
    ended = run_script(rig, "srun printenv SLURM_GPUS_ON_NODE", options="-N1 -n4 --gres=gpu:1")
    assert ended.logs == ["1\n"] * 4


def test_tasks_follow_from_gpus(rig: LocalRig) -> None:
    ended = run_script(rig, "srun -K echo here", options="--gpus=4 --ntasks-per-gpu=1")
    assert ended.logs == ["here\n"] * 4


def test_a_line_separator_in_a_comment_ends_nothing(rig: LocalRig) -> None:
    text = "#!/bin/bash\n# one\u2028two\n#SBATCH -n 2\nsrun echo here\n"
    ended = wait_for_end(rig, rig.submit(launch_text(text)))
    assert ended.logs == ["here\n"] * 2


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no Open MPI here")
def test_mpirun_sees_the_slots(rig: LocalRig) -> None:
    program = "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"
    ended = run_script(rig, f"mpirun bash -c '{program}'\nmpirun -np 3 true || echo too many")
    assert sorted(ended.output.splitlines()[:2]) == ["0 of 2", "1 of 2"]
    assert ended.output.endswith("too many\n")


def test_the_tutorials_script_runs_with_its_hand_set_rendezvous(rig: LocalRig) -> None:
    program = (
        "import os; e = os.environ; print(e['SLURM_PROCID'], e['WORLD_SIZE'], e['MASTER_ADDR'])"
    )
    body = f"""
    export MASTER_PORT=9304
    export WORLD_SIZE=2
    master_addr=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    export MASTER_ADDR=$master_addr
    srun {sys.executable} -c "{program}"
    """
    ended = run_script(rig, body, options="--nodes=2 --ntasks-per-node=1 --gres=gpu:1")
    assert ended.observation.phase is Phase.COMPLETED
    assert ended.logs == ["0 2 127.0.0.1\n", "1 2 127.0.0.1\n"]


def test_an_element_of_an_array_knows_its_number(rig: LocalRig) -> None:
    text = "#!/bin/bash\n#SBATCH -n 1 -a 5-6\nsrun bash -c 'echo $SLURM_ARRAY_TASK_ID'\n"
    elements = [element for _, element in import_script(text, unchanged=True).elements(7)]
    variables = elements[1].spec["environmentVariables"]
    launched = rig.submit(launch_text(text, environmentVariables=variables))
    assert wait_for_end(rig, launched).output == "6\n"


def test_a_task_that_exceeds_the_memory_limit_ends_the_script(rig: LocalRig) -> None:
    program = "import time; data = bytearray(400_000_000); time.sleep(60)"
    text = f"#!/bin/bash\n#SBATCH -n 2\nsrun {sys.executable} -c '{program}'\n"
    launched = rig.submit(launch_text(text, compute={"cpuMemoryLimit": "150M"}))
    ended = wait_for_end(rig, launched)
    assert (ended.observation.phase, ended.observation.reason) == (
        Phase.FAILED,
        Reason.OUT_OF_MEMORY,
    )
    assert rig.processes(launched) == 0
