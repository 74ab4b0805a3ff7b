"""The allocation of a script: nodes, tasks and GPUs as Slurm 22.05 and 24.11 count them."""

import pytest

from spec.formats.documents import from_wire, load_spec
from spec.imports.allocation import read_allocation
from spec.imports.sbatch import import_script


def script(options: str) -> str:
    return f"#!/bin/bash\n#SBATCH {options}\nsrun hostname\n"


@pytest.mark.parametrize(
    ("options", "nodes", "tasks", "gpus"),
    [
        ("-N2", 2, 2, 0),
        ("-n5", 1, 5, 0),
        ("-N2 --ntasks-per-node=3", 2, 6, 0),
        ("--ntasks-per-node=3", 1, 3, 0),
        ("-N2 -n3 --ntasks-per-node=4", 2, 3, 0),
        ("-n5 --ntasks-per-node=2", 3, 5, 0),
        ("-N1-3 -n4", 1, 4, 0),
        ("-N2-2", 2, 2, 0),
        ("-N3 -n2", 2, 2, 0),
        ("-N0 -n2", 1, 2, 0),
        ("-N 1k", 1024, 1024, 0),
        ("-n +3", 1, 3, 0),
        ("-N2 --gres=gpu:1", 2, 2, 2),
        ("--gres=gpu", 1, 1, 1),
        ("--gres=gpu:a100", 1, 1, 1),
        ("--gres=gpu:a100:2", 1, 1, 2),
        ("--gres=gpu:0", 1, 1, 0),
        ("--gres=none", 1, 1, 0),
        ("--gres=gpu=2", 1, 1, 2),
        ("--gres=gpu:1 --gres=gpu:2", 1, 1, 2),
        ("--gres=gpu:1,gpu:2", 1, 1, 2),
        ("--gres=gpu:a100:1,gpu:v100:2", 1, 1, 3),
        ("--gres=shard:4,gpu:2", 1, 1, 2),
        ("--gpus=4", 1, 1, 4),
        ("--gpus=a100:4", 1, 1, 4),
        ("--gpus=0", 1, 1, 0),
        ("--gpus=2 -n4", 1, 4, 2),
        ("--gpus=4 --ntasks-per-gpu=1", 1, 4, 4),
        ("--gpus=4 -N2 --ntasks-per-gpu=2", 2, 8, 4),
        ("--gpus=4 --ntasks-per-gpu=1 -n2", 1, 2, 4),
        ("--gres=gpu:2 --ntasks-per-gpu=2 -N2", 2, 8, 4),
        ("--ntasks-per-gpu=2 -n4", 1, 4, 2),
        ("--gpus-per-node=2 -n4", 1, 4, 2),
        ("--gpus-per-node=2 -N2", 2, 2, 4),
        ("--gpus-per-node=2 --gres=gpu:1", 1, 1, 2),
        ("-G 4 --gres=gpu:1", 4, 4, 4),
        ("-G 4 --gpus-per-node=2", 2, 2, 4),
        ("-G 2 --gres=gpu:2", 1, 1, 2),
        ("--gpus-per-task=1 -n3", 1, 3, 3),
        ("--gpus=4 --gpus-per-task=2", 1, 2, 4),
        ("--gpus-per-node=2 --gpus-per-task=1 -N2", 2, 4, 4),
        ("--tres-per-task=gres/gpu:1 -n2", 1, 2, 2),
        ("--tres-per-task=cpu=2,gres/gpu=2 -n2", 1, 2, 4),
        ("--gpus-per-socket=1 --sockets-per-node=2 -N2", 2, 2, 4),
        ("--extra-node-info=1:2:1 -N2", 2, 4, 0),
    ],
)
def test_nodes_tasks_and_gpus_are_those_of_slurm(
    options: str, nodes: int, tasks: int, gpus: int
) -> None:
    allocation = read_allocation(script(options))
    assert (allocation.nodes, allocation.tasks, allocation.gpus) == (nodes, tasks, gpus)
    assert not any(note.blocks for note in allocation.notes)


@pytest.mark.parametrize(
    ("options", "spread"),
    [("-N2 -n5", (3, 2)), ("-N3 -n7", (3, 2, 2)), ("-n5 --ntasks-per-node=2", (2, 2, 1))],
)
def test_tasks_are_spread_evenly_over_nodes(options: str, spread: tuple[int, ...]) -> None:
    assert read_allocation(script(options)).tasks_per_node == spread


@pytest.mark.parametrize("unchanged", [False, True])
def test_a_script_for_billions_of_nodes_is_read(unchanged: bool) -> None:
    imported = import_script(script("-N 999999999999"), unchanged=unchanged)
    assert imported.allocation.nodes == 999_999_999_999


@pytest.mark.parametrize(
    ("options", "has_option"),
    [
        ("-N2", False),
        ("--gpus-per-node=2 -N2", False),
        ("-n1", True),
        ("-N2 --ntasks-per-node=3", True),
        ("--gpus=4 --ntasks-per-gpu=1", True),
        ("--gpus=4 --gpus-per-task=1", True),
    ],
)
def test_slurm_knows_the_tasks_only_if_an_option_gives_them(options: str, has_option: bool) -> None:
    assert read_allocation(script(options)).has_tasks_option is has_option


def test_cpus_of_a_task_come_from_tasks_or_gpus() -> None:
    assert read_allocation(script("-c 4")).cpus_per_task == 4
    assert read_allocation(script("--cpus-per-gpu=3 --gpus=4 -n2")).cpus_per_task == 6
    assert read_allocation(script("-n2")).cpus_per_task == 1


@pytest.mark.parametrize(
    "option", ["-n many", "-n 0", "-n 0x3", "-n 2k3", "--gpus=two", "--gpus-per-node=a:b"]
)
def test_a_value_that_is_no_number_is_named(option: str) -> None:
    (note,) = read_allocation(script(option)).notes
    assert (note.line, note.blocks) == (2, True)


@pytest.mark.parametrize(
    ("options", "master", "each"),
    [("-n4 --gres=gpu:1", 1, 0), ("-n3 --gpus=8", 4, 2), ("-N2 -n3 --gres=gpu:2", 2, 1)],
)
def test_shared_gpus_add_up_as_it_stands(options: str, master: int, each: int) -> None:
    read = import_script(script(options), unchanged=True)
    document = from_wire(read.spec, no_master=False, master=read.master(read.spec))
    spec = load_spec(document)
    assert spec.num_pods == read.allocation.tasks
    assert spec.gpus() == read.allocation.gpus
    assert [pod.replica.compute.gpu_devices_request for pod in spec.pods][:2] == [master, each]
    (note,) = [note for note in read.notes if "tasks share" in note.text]
    assert (note.line, note.blocks) == (2, False)


def test_shared_gpus_are_refused_in_a_conversion() -> None:
    read = import_script(script("-n4 --gres=gpu:1"))
    (note,) = [note for note in read.notes if note.blocks]
    assert (note.line, note.text) == (2, "1 GPU cannot be divided evenly among 4 tasks")
