"""How ranks meet, and what they choose when they have."""

import signal
import socket
from collections.abc import Sequence

import pytest
import torch.distributed as dist

from tests.trainer.runs import free_port
from trainer.errors import RendezvousError, Stopped, UsageError
from trainer.gang.group import choose_backend
from trainer.gang.identity import Identity
from trainer.gang.meeting import RankInfo, meet
from trainer.gang.stop import StopRequest, listen_for_stop


def cards(*gpus: str) -> list[RankInfo]:
    return [RankInfo("host", gpu, loopback=True) for gpu in gpus]


def at(rank: int, world_size: int, port: int) -> Identity:
    return Identity(rank, world_size, 0, "127.0.0.1", port, "test")


@pytest.mark.parametrize(
    ("wanted", "gpus", "backend"),
    [
        ("auto", ["a", "b"], "nccl"),
        ("auto", ["a"], "nccl"),
        ("auto", ["a", "a"], "gloo"),
        ("auto", ["a", ""], "gloo"),
        ("auto", ["", ""], "gloo"),
        ("gloo", ["a", "b"], "gloo"),
        ("nccl", ["a", "b"], "nccl"),
    ],
)
def test_nccl_is_for_ranks_with_a_gpu_of_their_own(
    monkeypatch: pytest.MonkeyPatch, wanted: str, gpus: Sequence[str], backend: str
) -> None:
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    assert choose_backend(wanted, cards(*gpus)) == backend


def test_a_torch_without_nccl_uses_gloo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "is_nccl_available", lambda: False)
    assert choose_backend("auto", cards("a", "b")) == "gloo"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [("nccl", "1 GPUs for 2 ranks; use --backend gloo"), ("mpi", "without MPI")],
)
def test_a_backend_that_cannot_work_is_refused(wanted: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_backend(wanted, cards("a", "a"))


def test_a_single_rank_meets_itself() -> None:
    found, _store = meet(at(0, 1, 0), cards("")[0], 1.0, StopRequest())
    assert found == cards("")


def test_an_absent_rank_0_is_named_with_its_address() -> None:
    port = free_port()
    with pytest.raises(RendezvousError, match=rf"127\.0\.0\.1:{port} within 0\.3 s .*refused"):
        meet(at(1, 2, port), cards("")[0], 0.3, StopRequest())


def test_absent_ranks_are_named_with_the_address() -> None:
    port = free_port()
    with pytest.raises(RendezvousError, match=rf"rank 1, 2 of 3 did not come to 127.*:{port}"):
        meet(at(0, 3, port), cards("")[0], 0.3, StopRequest())


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RendezvousError, match=rf"cannot listen at 127\.0\.0\.1:{port}"):
            meet(at(0, 2, port), cards("")[0], 5.0, StopRequest())


def test_a_signal_ends_the_waiting() -> None:
    with listen_for_stop() as stop_request:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGUSR1)
        assert stop_request.signal == "SIGTERM"
        with pytest.raises(Stopped, match="SIGTERM"):
            meet(at(1, 2, free_port()), cards("")[0], 60.0, stop_request)
