"""The ranks as a process group of torch: they agree on a backend, connect, and sum numbers."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from trainer.config import Config
from trainer.errors import OutOfMemory, PeerLost, RendezvousError, UsageError
from trainer.gang.identity import Identity
from trainer.gang.meeting import RankInfo, meet
from trainer.gang.stop import StopRequest

PATIENCE = timedelta(minutes=10)  # for a rank that is alive but does not answer
LOST = ("gloo", "connection closed by peer", "connection reset", "socket", "nccl error")
#: The groups of this process, which it keeps to its end. If the model that averages gradients over
#: a group were the last to refer to it, the interpreter would be locked while the group is freed,
#: and a thread of gloo that still frees tensors would wait for the lock: both forever.
KEPT: list[Any] = []
NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


@dataclass(frozen=True)
class Group:
    """One rank's membership in the group: its number, their count, its device and the backend."""

    rank: int
    world_size: int
    device: torch.device
    backend: str

    @property
    def is_master(self) -> bool:
        """Whether this is rank 0, which reports and saves."""
        return self.rank == 0

    @property
    def _wire_device(self) -> torch.device:
        """The device that a tensor must be on for the backend to send it."""
        return self.device if self.backend == "nccl" else torch.device("cpu")

    def sum_over_ranks(self, *values: float | torch.Tensor) -> list[float]:
        """Return the sum of each value over all ranks. Every rank must call it, and all get the
        same sums.

        Values may be scalars on this rank's device.
        """
        scalars = [
            torch.as_tensor(value, dtype=torch.float64, device=self.device) for value in values
        ]
        # Stacked, so that all are sent and read together: each read waits for the device.
        numbers = torch.stack(scalars).to(self._wire_device)
        dist.all_reduce(numbers)
        return numbers.tolist()

    def broadcast(self, value: Any) -> Any:
        """Return rank 0's ``value`` on every rank. Every rank must call it."""
        objects = [value]
        dist.broadcast_object_list(objects, src=0, device=self._wire_device)
        return objects[0]


@contextmanager
def join(identity: Identity, config: Config, stop_request: StopRequest) -> Iterator[Group]:
    """Meet the other ranks, and be in a group with them while the block runs.

    Raises ``RendezvousError`` if the ranks do not meet in time, ``Stopped`` if a signal arrives
    before they do, and ``UsageError`` for a backend or device that this machine does not have.
    Errors of torch in the block are raised as ``PeerLost`` or ``OutOfMemory`` if they mean that.
    """
    device = _choose_device(identity, config)
    cards, store = meet(identity, _rank_info(identity, device), config.rdzv_timeout, stop_request)
    backend = choose_backend(config.backend, cards)
    _prepare_host(identity, cards)
    try:
        dist.init_process_group(
            backend,
            store=store,
            rank=identity.rank,
            world_size=identity.world_size,
            timeout=PATIENCE,
            device_id=device if backend == "nccl" else None,
        )
    except RuntimeError as error:
        raise RendezvousError(
            f"{backend} cannot connect the ranks: {_first_line(error)}"
        ) from error
    KEPT.append(dist.group.WORLD)
    group = Group(identity.rank, identity.world_size, device, backend)
    try:
        with _translate_errors():
            yield group
            # A barrier: no rank leaves while another one needs the connection.
            group.sum_over_ranks(0)
            dist.destroy_process_group()
    except BaseException:
        if backend == "gloo":  # NCCL would wait here for ranks that are gone
            dist.destroy_process_group()
        raise


def choose_backend(wanted: str, cards: list[RankInfo]) -> str:
    """Return ``nccl`` if every rank has a GPU to itself, else ``gloo``, unless a flag chose one.

    Raises ``UsageError`` if the chosen backend cannot work with these ranks.
    """
    gpus = [card.gpu for card in cards]
    has_own_gpus = "" not in gpus and len(set(gpus)) == len(gpus)
    supports_nccl = has_own_gpus and dist.is_nccl_available()
    if wanted == "auto":
        return "nccl" if supports_nccl else "gloo"
    if wanted == "nccl" and not supports_nccl:
        raise UsageError(
            "--backend nccl needs a GPU of its own for each rank, and a torch built for it: "
            f"{len(set(gpus) - {''})} GPUs for {len(gpus)} ranks; use --backend gloo"
        )
    if wanted == "mpi":
        raise UsageError("--backend mpi: torch is installed without MPI; use --backend gloo")
    return wanted


def _choose_device(identity: Identity, config: Config) -> torch.device:
    """Return the device of this rank: a GPU unless the flags say otherwise or there is none.

    Raises ``UsageError`` if the flags require a GPU and there is none.
    """
    if config.no_cuda or config.device == "cpu":
        return torch.device("cpu")
    if not (torch.cuda.is_available() and torch.cuda.device_count()):
        if config.device == "cuda":
            raise UsageError("--device cuda: torch finds no GPU here; leave it out")
        return torch.device("cpu")
    number = identity.local_rank if config.gpu is None else config.gpu
    device = torch.device("cuda", number % torch.cuda.device_count())
    torch.cuda.set_device(device)
    # Some of cuDNN's convolutions add in any order, and a resumed training would differ.
    torch.backends.cudnn.deterministic = True
    return device


def _rank_info(identity: Identity, device: torch.device) -> RankInfo:
    """Return what the other ranks must know of this one."""
    gpu = str(torch.cuda.get_device_properties(device).uuid) if device.type == "cuda" else ""
    address = identity.master_addr
    loopback = address in ("localhost", "::1") or address.startswith("127.")
    return RankInfo(host=socket.gethostname(), gpu=gpu, loopback=loopback)


def _prepare_host(identity: Identity, cards: list[RankInfo]) -> None:
    """Divide the cores among the ranks of this host, and use loopback if all ranks do."""
    if "OMP_NUM_THREADS" not in os.environ:
        own_host = cards[identity.rank].host
        ranks_here = sum(card.host == own_host for card in cards)
        torch.set_num_threads(max(1, _count_cores() // ranks_here))
    interface = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    # Some hosts resolve their own name to an address that nothing listens on, which gloo would use.
    if interface and all(card.loopback for card in cards):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)


def _count_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn torch's errors about a lost rank or missing memory into ours, which have exit codes."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise OutOfMemory(f"out of memory: {_first_line(error)}") from error
    except RuntimeError as error:
        text = str(error).lower()
        if any(sign in text for sign in NO_MEMORY):
            raise OutOfMemory(f"out of memory: {_first_line(error)}") from error
        if isinstance(error, dist.DistError) or any(sign in text for sign in LOST):
            raise PeerLost(f"another rank went away: {_first_line(error)}") from error
        raise


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
