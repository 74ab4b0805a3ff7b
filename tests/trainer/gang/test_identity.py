"""Who a process is: which launcher is believed, and what half-told stories say."""

import pytest

from trainer.errors import UsageError
from trainer.gang.identity import Identity, Span, first_host, resolve

MEETING = {"MASTER_ADDR": "m", "MASTER_PORT": "23456"}
RANK = {"RANK": "1", "WORLD_SIZE": "3", **MEETING}
TORCHRUN = {**RANK, "TORCHELASTIC_RUN_ID": "x", "RANK": "2", "LOCAL_RANK": "2"}
PET = {**RANK, "PET_NNODES": "3", "PET_NODE_RANK": "1", "PET_NPROC_PER_NODE": "2"}
SLURM = {
    "SLURM_JOB_ID": "31234",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_NTASKS": "4",
    "SLURM_JOB_NODELIST": "gpu[03-05],big",
}
BY_RANK = "RANK/WORLD_SIZE"
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    **MEETING,
}
FLAGS = Span(8, 8, 16)


@pytest.mark.parametrize(
    ("span", "env", "expected"),
    [
        (FLAGS, TORCHRUN | SLURM | OPEN_MPI, FLAGS),
        (None, TORCHRUN | SLURM | OPEN_MPI, Identity(2, 3, 2, "m", 23456, "torchrun")),
        (None, PET | SLURM, Span(2, 2, 6, "PET_NPROC_PER_NODE")),
        (None, PET | TORCHRUN, Identity(2, 3, 2, "m", 23456, "torchrun")),
        (None, PET | {"PET_NPROC_PER_NODE": "auto"}, Identity(1, 3, 0, "m", 23456, BY_RANK)),
        (None, RANK | SLURM | OPEN_MPI, Identity(1, 3, 0, "m", 23456, BY_RANK)),
        (None, RANK | {"LOCAL_RANK": "1"}, Identity(1, 3, 1, "m", 23456, BY_RANK)),
        (None, SLURM | OPEN_MPI, Identity(3, 4, 1, "m", 23456, "srun")),
        (None, SLURM, Identity(3, 4, 1, "gpu03", 21234, "srun")),
        (None, SLURM | {"SLURM_STEP_NUM_TASKS": "5"}, Identity(3, 5, 1, "gpu03", 21234, "srun")),
        (None, SLURM | {"WORLD_SIZE": "4"}, Identity(3, 4, 1, "gpu03", 21234, "srun")),
        (None, OPEN_MPI, Identity(1, 2, 1, "m", 23456, "mpirun")),
        (None, {}, Identity(0, 1, 0, "127.0.0.1", 0, "nobody: a single process")),
        (None, {"RANK": "0", "WORLD_SIZE": "1"}, Identity(0, 1, 0, "127.0.0.1", 0, BY_RANK)),
    ],
)  # fmt: skip
def test_the_first_launcher_that_speaks_is_believed(
    span: Span | None, env: dict[str, str], expected: Identity | Span
) -> None:
    assert resolve(span, env) == expected


def test_a_slurm_batch_script_is_a_single_process() -> None:
    env = {name: value for name, value in SLURM.items() if name != "SLURM_STEP_ID"}
    found = resolve(None, env)
    assert isinstance(found, Identity)
    assert found.world_size == 1


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"RANK": "0"}, "WORLD_SIZE=''"),
        ({"WORLD_SIZE": "2"}, "RANK=''"),
        ({"RANK": "one", "WORLD_SIZE": "2"}, "RANK='one'"),
        ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK='-1'"),
        ({"RANK": "2", "WORLD_SIZE": "2", **MEETING}, "not one of the 2"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "set MASTER_ADDR and MASTER_PORT"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "m"}, "MASTER_PORT"),
        (RANK | {"MASTER_PORT": "http"}, "MASTER_PORT='http'"),
        (RANK | {"LOCAL_RANK": "x"}, "LOCAL_RANK='x'"),
        (SLURM | {"WORLD_SIZE": "24"}, "WORLD_SIZE=24, but srun started 4 tasks"),
        ({"PET_NNODES": "3", "PET_NPROC_PER_NODE": "auto"}, "start it with torchrun"),
    ],
)
def test_an_environment_that_says_half_of_it_is_refused(env: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(None, env)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((-1, 1, 2), "--offset -1"),
        ((0, 0, 2), "--size 0"),
        ((1, 2, 2), "reach rank 2, but --world_size 2 ends at 1"),
    ],
)
def test_flags_out_of_range_are_refused(flags: tuple[int, int, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Span.from_flags(*flags)


def test_flags_have_defaults_once_one_is_given() -> None:
    assert Span.from_flags(None, None, None) is None
    assert Span.from_flags(None, 3, None) == Span(0, 3, 3)
    assert Span.from_flags(2, None, None) == Span(2, 1, 3)


@pytest.mark.parametrize(
    ("nodes", "host"),
    [
        ("vnode[1-2]", "vnode1"),
        ("gpu[03-05,9],login", "gpu03"),
        ("a,b", "a"),
        ("rack1-n[7]-ib,c", "rack1-n7-ib"),
        ("", ""),
    ],
)
def test_the_first_host_of_a_slurm_list(nodes: str, host: str) -> None:
    assert first_host(nodes) == host
