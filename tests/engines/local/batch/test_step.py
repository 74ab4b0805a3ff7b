"""Which tasks of a step run where. The layouts are those of Slurm 22.05 with the same nodes."""

from dataclasses import replace

import pytest

from engines.local.batch.job import ScriptJob, make_nodes
from engines.local.batch.options import parse_command_line
from engines.local.batch.step import StepError, plan_step, task_variables


def job_of(*tasks_per_node: int, cpus: int = 1, gpus: int = 0) -> ScriptJob:
    """Return a job whose nodes have these tasks, and ``gpus`` real GPUs."""
    return ScriptJob(
        number=7,
        name="job",
        script="/script",
        submit_dir="/",
        user="ada",
        nodes=make_nodes(tasks_per_node, cpus, gpus, map(str, range(gpus))),
        cpus_per_task=cpus,
        sets_tasks=True,
        logs="/logs",
        attempt=0,
        stop="/stop",
        bell="/bell",
    )


def layout(job: ScriptJob, **options: str) -> list[tuple[int, int, int]]:
    """Return the node, local number and host of each task."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    step = plan_step(job, given, job.variables())
    return [(task.node_number, task.local_number, task.host) for task in step.tasks]


def test_without_options_each_rank_has_a_task() -> None:
    assert layout(job_of(2, 2)) == [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)]


def test_fewer_tasks_use_each_node_first() -> None:
    assert layout(job_of(2, 2), ntasks="3") == [(0, 0, 0), (0, 1, 1), (1, 0, 2)]


def test_one_task_runs_on_the_node_that_was_asked_for() -> None:
    assert layout(job_of(2, 2), ntasks="1", nodelist="127.0.0.2") == [(0, 0, 2)]


def test_more_tasks_than_ranks_share_the_hosts_of_their_node() -> None:
    job = job_of(1, 1, cpus=2)
    assert layout(job, ntasks="4") == [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)]


def test_more_tasks_than_cpus_are_refused_unless_overcommitted() -> None:
    with pytest.raises(StepError, match="More processors requested than permitted"):
        layout(job_of(2), ntasks="3")
    assert len(layout(job_of(2), ntasks="3", overcommit="")) == 3


#: Options of srun for two nodes with two tasks of two CPUs each, and the tasks of each node.
COUNTS = {
    "": [2, 2],
    "-n 3": [2, 1],
    "-n 6": [3, 3],
    "-n 1": [1],
    "-N 1": [4],
    "-N 1 -n 2": [2],
    "-N 1-2": [2, 2],
    "-N 2 -n 2": [1, 1],
    "-c 2": [2, 2],
    "-c 4": [],
    "-c 2 -n 2": [1, 1],
    "-n 9": [],
    "-O -n 9": [5, 4],
    "-O -N 2 -n 5": [3, 2],
    "--ntasks-per-node=1": [2, 2],
    "-n 2 --ntasks-per-node=1": [1, 1],
    "-r 1 -n 1": [1],
    "-r 1 -N 1": [4],
    "-r 2 -N 1": [],
    "-N 5 -n 5": [],
}


@pytest.mark.parametrize("line", COUNTS)
def test_tasks_are_divided_as_on_slurm(line: str) -> None:
    job = replace(job_of(2, 2, cpus=2), options={"ntasks-per-node": "2"})
    options = parse_command_line(line.split()).options
    try:
        step = plan_step(job, options, job.variables())
    except StepError:
        counts = []
    else:
        counts = step.tasks_per_node
    assert counts == COUNTS[line]


#: Options with which srun warns, and how its warning begins.
WARNINGS = {
    "-n 2": "",
    "-n 4 --ntasks-per-node=2": "",
    "-N 2 -n 1": "can't run 1 processes on 2 nodes, setting nnodes to 1",
    "-n 3": "can't honor --ntasks-per-node set to 2 which doesn't match the requested tasks 3",
    "-N 1": "can't honor --ntasks-per-node set to 2 which doesn't match the requested tasks 4",
    "--ntasks-per-node=3": "can't honor --ntasks-per-node set to 3",
}


@pytest.mark.parametrize("line", WARNINGS)
def test_numbers_that_do_not_match_are_named(line: str) -> None:
    job = replace(job_of(2, 2, cpus=2), options={"ntasks-per-node": "2"})
    step = plan_step(job, parse_command_line(line.split()).options, job.variables())
    beginnings = [f"Warning: {text}" for text in [WARNINGS[line]] if text]
    assert len(step.warnings) == len(beginnings)
    assert all(map(str.startswith, step.warnings, beginnings))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"nodes": "3"}, "Only allocated 1 nodes asked for 3"),
        (
            {"relative": "1", "nodes": "1"},
            r"--relative and --nodes option incompatible with count of allocated nodes \(1\+1>1\)",
        ),
        ({"ntasks": "two"}, 'Invalid numeric value "two" for --ntasks'),
        ({"nodelist": "n9"}, "node n9 is not one of this job: 127.0.0.1"),
        ({"exclude": "127.0.0.1"}, "Requested node configuration is not available"),
        ({"container-image": "pytorch"}, "this machine starts no containers"),
    ],
)
def test_what_cannot_be_is_refused_in_words(options: dict[str, str], problem: str) -> None:
    with pytest.raises(StepError, match=problem):
        plan_step(job_of(3), options, {"SLURM_NTASKS": "3"})


def test_tasks_see_the_gpus_of_their_node_or_their_own() -> None:
    job = job_of(2, 2, gpus=4)
    for options, visible in (
        ({}, ["0,1", "0,1", "2,3", "2,3"]),
        ({"gpus-per-task": "1"}, ["0", "1", "2", "3"]),
    ):
        step = plan_step(job, options, job.variables())
        variables = [task_variables(step, task, options, {}) for task in step.tasks]
        assert [each["CUDA_VISIBLE_DEVICES"] for each in variables] == visible
