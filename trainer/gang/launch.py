"""Starts several ranks on this machine, and ends all of them when one fails."""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from trainer.errors import UsageError
from trainer.gang.identity import Span
from trainer.record.metrics import say

KILL_DELAY = 10.0  # seconds from SIGTERM to SIGKILL, once a rank has failed
Ranks = dict[int, "subprocess.Popen[bytes]"]


def spawn(span: Span, command: Sequence[str]) -> int:
    """Run ``command`` once for each rank of the span, and wait for all of them.

    Returns the exit code of the first rank that fails, or 0. When one fails, the others get
    SIGTERM, and SIGKILL ``KILL_DELAY`` seconds later. SIGTERM and SIGUSR1 to this process are
    passed on to every rank. Raises ``UsageError`` if some ranks are elsewhere and ``MASTER_ADDR``
    or ``MASTER_PORT`` is missing.
    """
    last = span.offset + span.size - 1
    say(f"Starting ranks {span.offset} to {last} of {span.world_size} by {span.source}")
    rendezvous = _rendezvous_variables(span)
    ranks: Ranks = {}
    ended: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
    with _forward_signals(ranks):
        for local in range(span.size):
            rank = span.offset + local
            environment = _rank_environment(span, rank, local) | rendezvous
            ranks[rank] = subprocess.Popen(list(command), env=environment)
            threading.Thread(
                target=_report_exit, args=(rank, ranks[rank], ended), daemon=True
            ).start()
        return _fail_fast(ranks, ended)


def _fail_fast(ranks: Ranks, ended: "queue.SimpleQueue[tuple[int, int]]") -> int:
    """Wait for all ranks, and end the others once one fails. Returns the first failure's exit code,
    or 0."""
    first_failure = 0
    kill_timer = threading.Timer(KILL_DELAY, _kill_all, args=(ranks,))
    for _ in range(len(ranks)):
        rank, code = ended.get()
        if code and not first_failure:
            first_failure = code
            say(f"Rank {rank} ended with exit code {code}: ending the other ranks started here")
            for process in ranks.values():
                process.terminate()
            kill_timer.start()
    kill_timer.cancel()
    return first_failure


def _report_exit(
    rank: int, process: "subprocess.Popen[bytes]", ended: "queue.SimpleQueue[tuple[int, int]]"
) -> None:
    code = process.wait()
    ended.put((rank, code if code >= 0 else 128 - code))  # as a shell counts signals


def _kill_all(ranks: Ranks) -> None:
    for process in ranks.values():
        process.kill()


@contextmanager
def _forward_signals(ranks: Ranks) -> Iterator[None]:
    """Pass stop signals on to the ranks while the block runs."""

    def pass_on(number: int, _frame: object) -> None:
        for process in ranks.values():
            process.send_signal(number)

    # Ctrl-C reaches the ranks without help, because they are in the same process group.
    handlers = {signal.SIGTERM: pass_on, signal.SIGUSR1: pass_on, signal.SIGINT: lambda *_: None}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _rank_environment(span: Span, rank: int, local: int) -> dict[str, str]:
    """Return the environment of one rank: this one's without torchrun's variables, and with its
    number."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PET_", "TORCHELASTIC_"))
    }
    own = {
        "RANK": rank,
        "WORLD_SIZE": span.world_size,
        "LOCAL_RANK": local,
        "LOCAL_WORLD_SIZE": span.size,
    }
    return inherited | {name: str(value) for name, value in own.items()}


def _rendezvous_variables(span: Span) -> dict[str, str]:
    """Return the variables for where ranks meet: none if they are set, else a free port of this
    machine.

    Raises ``UsageError`` if they are not set and some ranks are elsewhere.
    """
    if os.environ.get("MASTER_ADDR") and os.environ.get("MASTER_PORT"):
        return {}
    if span.size < span.world_size:
        raise UsageError(
            f"{span.world_size - span.size} of {span.world_size} ranks are elsewhere: set "
            "MASTER_ADDR and MASTER_PORT to a host and a free port of rank 0"
        )
    with socket.create_server(("127.0.0.1", 0)) as free:
        return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}


def trainer_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line that starts the trainer with ``arguments``."""
    return [sys.executable, "-m", "trainer", *arguments]
