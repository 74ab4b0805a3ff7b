"""The rendezvous: every rank writes its card to the store that rank 0 serves, and reads the cards
of all others."""

import json
import os
import socket
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from trainer.errors import RendezvousError
from trainer.gang.identity import Identity
from trainer.gang.stop import StopRequest

if TYPE_CHECKING:  # torch.distributed has these, but its types do not say so
    from torch._C._distributed_c10d import HashStore, PrefixStore, Store, TCPStore
else:
    from torch.distributed import HashStore, PrefixStore, Store, TCPStore

SLICE = 1.0  # seconds to wait at a time, so that signals are noticed
RETRY = 0.2  # seconds between two attempts to reach rank 0


@dataclass(frozen=True)
class RankInfo:
    """A rank's card: what the others must know of it to choose a backend."""

    host: str
    gpu: str  # unique id of its GPU; empty on the CPU
    loopback: bool  # whether it reaches rank 0 over the loopback interface


def meet(
    identity: Identity, card: RankInfo, timeout: float, stop_request: StopRequest
) -> tuple[list[RankInfo], Store]:
    """Exchange cards with all other ranks. Returns the cards in the order of ranks, and a store for
    torch.

    Raises ``RendezvousError``, with the address and the missing ranks, after ``timeout`` seconds,
    and ``Stopped`` as soon as a signal asks for it.
    """
    deadline = time.monotonic() + timeout
    store = _open_store(identity, timeout, deadline, stop_request)
    keys = [f"card/{rank}" for rank in range(identity.world_size)]
    try:
        store.set(keys[identity.rank], json.dumps(asdict(card)))
        while not store.check(keys):
            if time.monotonic() > deadline:
                raise RendezvousError(_absence_message(identity, timeout, store, keys))
            stop_request.check()
            _wait_for_keys(store, keys)
        cards = [RankInfo(**json.loads(store.get(key))) for key in keys]
    except RuntimeError as error:
        raise RendezvousError(
            f"lost rank 0 at {_address(identity)} in the rendezvous: {error}"
        ) from error
    return cards, PrefixStore("group", store)


def _open_store(
    identity: Identity, timeout: float, deadline: float, stop_request: StopRequest
) -> Store:
    """Open the store in which ranks meet. Rank 0 serves it, unless torchrun does; the others
    connect to it."""
    if identity.world_size == 1:
        return HashStore()
    torchrun_serves = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    serves = identity.is_master and not torchrun_serves
    if not serves:
        _wait_for_master(identity, timeout, deadline, stop_request)
    try:
        store: Store = TCPStore(
            identity.master_addr,
            identity.master_port,
            identity.world_size,
            is_master=serves,
            timeout=timedelta(seconds=max(1.0, deadline - time.monotonic())),
            wait_for_workers=False,
        )
    except RuntimeError as error:
        verb = "listen at" if serves else "join the rendezvous at"
        raise RendezvousError(f"cannot {verb} {_address(identity)}: {error}") from error
    # torchrun keeps its store when it restarts ranks: cards of an earlier attempt must not count.
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return PrefixStore(f"attempt-{attempt}", store) if torchrun_serves else store


def _wait_for_master(
    identity: Identity, timeout: float, deadline: float, stop_request: StopRequest
) -> None:
    """Wait until rank 0 listens. If torch did the waiting, it would fill the log with warnings."""
    while True:
        try:
            address = (identity.master_addr, identity.master_port)
            with socket.create_connection(address, timeout=SLICE):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise RendezvousError(
                    f"rank 0 did not answer at {_address(identity)} within {timeout:g} s "
                    f"({error}): look at its log, and at MASTER_ADDR and MASTER_PORT"
                ) from error
        stop_request.pause(RETRY)
        stop_request.check()


def _wait_for_keys(store: Store, keys: list[str]) -> None:
    """Wait for the keys for at most ``SLICE`` seconds."""
    try:
        store.wait(keys, timedelta(seconds=SLICE))
    except RuntimeError:
        return  # not yet; the caller looks at the clock


def _absence_message(identity: Identity, timeout: float, store: Store, keys: list[str]) -> str:
    """Return a message that names the ranks that have not come."""
    absent = [str(rank) for rank, key in enumerate(keys) if not store.check([key])]
    return (
        f"rank {', '.join(absent)} of {identity.world_size} did not come to "
        f"{_address(identity)} within {timeout:g} s: look at their logs"
    )


def _address(identity: Identity) -> str:
    return f"{identity.master_addr}:{identity.master_port}"
