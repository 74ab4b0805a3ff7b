"""Which rank this process is, according to flags or to the launcher that started it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainer.errors import UsageError

Env = Mapping[str, str]


@dataclass(frozen=True)
class Identity:
    """One rank: its number, their count, where rank 0 listens, and which launcher said so."""

    rank: int
    world_size: int
    local_rank: int
    master_addr: str
    master_port: int
    source: str

    @property
    def is_master(self) -> bool:
        """Whether this is rank 0, which reports and saves."""
        return self.rank == 0

    def __str__(self) -> str:
        """Return a line for the log."""
        line = f"Rank {self.rank} of {self.world_size} (local rank {self.local_rank})"
        line += f" by {self.source}"
        if self.world_size > 1:
            line += f", rank 0 at {self.master_addr}:{self.master_port}"
        return line


@dataclass(frozen=True)
class Span:
    """The ranks to start on this machine: ``offset`` to ``offset + size - 1``, of ``world_size``.

    Raises ``UsageError`` if these are not ranks from 0 to ``world_size - 1``.
    """

    offset: int
    size: int
    world_size: int
    source: str = "--offset/--size/--world_size"

    def __post_init__(self) -> None:
        if self.offset < 0:
            raise UsageError(f"--offset {self.offset}: must be 0 or more")
        if self.size < 1:
            raise UsageError(f"--size {self.size}: must be 1 or more")
        if self.offset + self.size > self.world_size:
            raise UsageError(
                f"--offset {self.offset} and --size {self.size} reach rank "
                f"{self.offset + self.size - 1}, but --world_size {self.world_size} ends at "
                f"{self.world_size - 1}"
            )

    @classmethod
    def from_flags(cls, offset: int | None, size: int | None, world: int | None) -> "Span | None":
        """Return the span that the flags describe, or ``None`` if none of them was passed."""
        if offset is None and size is None and world is None:
            return None
        first = offset or 0
        count = 1 if size is None else size
        return cls(first, count, first + count if world is None else world)


def resolve(span: Span | None, env: Env) -> Identity | Span:
    """Find out which rank this process is, or which ranks it must start.

    The first of these that applies decides: flags, torchrun, torchrun's settings without torchrun,
    ``RANK`` and ``WORLD_SIZE``, Slurm, Open MPI. If none applies, this process is the only rank.
    Raises ``UsageError`` if the environment is incomplete or contradicts itself.
    """
    return (
        span
        or _torchrun(env)
        or _torchrun_span(env)
        or _rank_variables(env)
        or _slurm(env)
        or _open_mpi(env)
        or Identity(0, 1, 0, "127.0.0.1", 0, "nobody: a single process")
    )


def _torchrun(env: Env) -> Identity | None:
    if "TORCHELASTIC_RUN_ID" not in env:
        return None
    rank = _read_number(env, "RANK")
    world = _read_number(env, "WORLD_SIZE")
    return _checked_identity(env, rank, world, _read_number(env, "LOCAL_RANK"), "torchrun")


def _torchrun_span(env: Env) -> Span | None:
    """Return the ranks that torchrun would start, if its settings are set but plain ``python``
    runs."""
    per_node = env.get("PET_NPROC_PER_NODE", "")
    nodes = env.get("PET_NNODES", "")
    if nodes.isdigit() and int(nodes) > 1 and not ("PET_NODE_RANK" in env or "RANK" in env):
        raise UsageError(
            f"PET_NNODES={nodes}, but neither RANK nor PET_NODE_RANK says which one this is: "
            "start it with torchrun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT"
        )
    if not (
        per_node.isdigit() and int(per_node) > 1 and nodes.isdigit() and "PET_NODE_RANK" in env
    ):
        return None
    size = int(per_node)
    return Span(
        _read_number(env, "PET_NODE_RANK") * size, size, int(nodes) * size, "PET_NPROC_PER_NODE"
    )


def _rank_variables(env: Env) -> Identity | None:
    """Read RANK, WORLD_SIZE and LOCAL_RANK. For a task of srun that has only WORLD_SIZE, Slurm's
    variables decide."""
    if "RANK" not in env and ("WORLD_SIZE" not in env or _is_srun_task(env)):
        return None
    rank = _read_number(env, "RANK")
    world = _read_number(env, "WORLD_SIZE")
    local = _read_number(env, "LOCAL_RANK") if "LOCAL_RANK" in env else 0
    return _checked_identity(env, rank, world, local, "RANK/WORLD_SIZE")


def _slurm(env: Env) -> Identity | None:
    """Read the variables of a task that srun started. The first host of the step is where ranks
    meet by default, at a port derived from the job's number."""
    if not _is_srun_task(env):
        return None
    rank = _read_number(env, "SLURM_PROCID")
    world = _read_number(
        env, "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in env else "SLURM_NTASKS"
    )
    if env.get("WORLD_SIZE", str(world)) != str(world):
        raise UsageError(
            f"WORLD_SIZE={env['WORLD_SIZE']}, but srun started {world} tasks, which are the ranks: "
            "leave the variable out, or set it to $SLURM_NTASKS"
        )
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST", "")
    defaults = {
        "MASTER_ADDR": first_host(nodes),
        "MASTER_PORT": str(20000 + _read_number(env, "SLURM_JOB_ID") % 10000),
    }
    return _checked_identity(
        {**defaults, **env}, rank, world, _read_number(env, "SLURM_LOCALID"), "srun"
    )


def _is_srun_task(env: Env) -> bool:
    """Whether srun started this process as one of its tasks."""
    # SLURM_NTASKS does not show it, as batch scripts have it too: only srun makes the step whose
    # tasks are the ranks.
    return "SLURM_STEP_ID" in env and "SLURM_PROCID" in env


def _open_mpi(env: Env) -> Identity | None:
    if "OMPI_COMM_WORLD_RANK" not in env:
        return None
    rank = _read_number(env, "OMPI_COMM_WORLD_RANK")
    world = _read_number(env, "OMPI_COMM_WORLD_SIZE")
    return _checked_identity(
        env, rank, world, _read_number(env, "OMPI_COMM_WORLD_LOCAL_RANK"), "mpirun"
    )


def _checked_identity(env: Env, rank: int, world: int, local: int, source: str) -> Identity:
    """Check what a launcher says, and return the identity. Raises ``UsageError``."""
    if not 0 <= rank < world:
        raise UsageError(f"{source}: rank {rank} is not one of the {world} from 0 to {world - 1}")
    address = env.get("MASTER_ADDR", "")
    if world > 1 and not (address and env.get("MASTER_PORT")):
        raise UsageError(
            f"{source} names {world} ranks, but not where they meet: set MASTER_ADDR and "
            "MASTER_PORT to a host and a free port of rank 0"
        )
    port = _read_number(env, "MASTER_PORT") if env.get("MASTER_PORT") else 0
    return Identity(rank, world, local, address or "127.0.0.1", port, source)


def _read_number(env: Env, name: str) -> int:
    """Return the variable as a number. Raises ``UsageError`` unless it is whole and not
    negative."""
    text = env.get(name, "")
    if not text.isdecimal():
        raise UsageError(f"{name}={text!r}: must be a whole number, 0 or more")
    return int(text)


def first_host(nodes: str) -> str:
    """Return the first host of Slurm's list of nodes: ``gpu03`` for ``gpu[03-05,9],login``."""
    match = re.match(r"([^\[,]+)(?:\[([^\],-]+)[^\]]*\]([^,]*))?", nodes)
    return "".join(part or "" for part in match.groups()) if match else ""
