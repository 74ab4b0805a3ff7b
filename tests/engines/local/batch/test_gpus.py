"""Which GPUs the steps of a batch script see, on a node whose devices have names only."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.local.batch import starting
from engines.local.batch.job import ScriptJob, make_nodes
from engines.local.batch.room import StepRoom, step_demand
from engines.local.batch.step import plan_step, task_variables
from engines.local.records.plan import BatchPlan

DEVICES = ("GPU-a", "GPU-b", "GPU-c", "GPU-d")


@pytest.fixture
def job(tmp_path: Path) -> ScriptJob:
    """A job with four tasks and four GPUs on one node."""
    return ScriptJob(
        number=7,
        name="job",
        script=str(tmp_path / "script"),
        submit_dir=str(tmp_path),
        user="ada",
        nodes=make_nodes([4], 1, 4, DEVICES),
        cpus_per_task=1,
        sets_tasks=False,
        logs=str(tmp_path),
        attempt=0,
        stop=str(tmp_path / "stop"),
        bell=str(tmp_path / "bell"),
    )


def take(room: StepRoom, options: dict[str, str]) -> tuple[Any, list[str]] | None:
    """Return what a step with these options takes, and what each of its tasks sees."""
    step = plan_step(room.job, options, {})
    grant = room.choose([step_demand(step, options)])
    if grant is None:
        return None
    variables = [task_variables(step, task, options, grant.gpus) for task in step.tasks]
    return grant, [each["CUDA_VISIBLE_DEVICES"] for each in variables]


def test_steps_at_once_have_gpus_of_their_own(job: ScriptJob) -> None:
    room = StepRoom(job)
    one = {"ntasks": "1", "exact": ""}
    first = take(room, {**one, "gres": "gpu:1"})
    two = take(room, {"ntasks": "2", "exact": "", "gpus-per-task": "1"})
    last = take(room, {**one, "gpus": "1"})
    assert first
    assert two
    assert last
    assert (first[1], two[1], last[1]) == (["GPU-a"], ["GPU-b", "GPU-c"], ["GPU-d"])
    assert take(room, {**one, "gpus": "1"}) is None
    room.give_back(first[0])
    again = take(room, {**one, "gpus": "1"})
    assert again
    assert again[1] == ["GPU-a"]


@pytest.mark.parametrize(
    ("options", "visible"),
    [({}, ",".join(DEVICES)), ({"overlap": ""}, ",".join(DEVICES)), ({"gres": "none"}, "")],
)
def test_a_step_that_asks_for_none_sees_all_or_none(
    job: ScriptJob, options: dict[str, str], visible: str
) -> None:
    taken = take(StepRoom(job), {"ntasks": "1", **options})
    assert taken
    assert taken[1] == [visible]


SCRIPT = """#!/bin/sh
step() {
  srun -n1 --exact --gres=gpu:1 sh -c "printenv CUDA_VISIBLE_DEVICES SLURM_GPUS_ON_NODE > $1.new
    mv $1.new $1; until [ -e $2 ]; do sleep 0.05; done"
}
step first second &
step second first &
wait
"""


@pytest.fixture
def hosts(job: ScriptJob, tmp_path: Path) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """The hosts of the job, which run the script."""
    batch = BatchPlan(SCRIPT, [], [4], 1, 4, sets_tasks=False, options={})
    folder = tmp_path / "batch"
    starting.write_job(folder, job, batch)
    processes = []
    for rank in range(job.tasks):
        variables = starting.host_variables(job, folder, rank, os.environ["PATH"])
        command = [*starting.PROGRAM, str(folder), "host", str(rank)]
        processes.append(subprocess.Popen(command, env=os.environ | variables, cwd=tmp_path))
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def test_steps_that_run_together_do_not_share_a_gpu(
    hosts: list["subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    assert hosts[0].wait(60) == 0
    seen = [(tmp_path / name).read_text().split() for name in ("first", "second")]
    assert sorted(seen) == [["GPU-a", "1"], ["GPU-b", "1"]]
