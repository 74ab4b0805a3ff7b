"""The queue is asked for at a bounded pace, and submissions that wait together go together."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import pytest

from engines.base import EngineUnavailable
from engines.slurm.client.courier import AGAIN, NEW, Courier, RunParcel
from engines.slurm.client.transport import TIMEOUT, CommandResult
from engines.slurm.queue.reader import QueueReader


@dataclass
class Login:
    """A login node that answers at once; ``pause`` is what it takes, ``silent`` that it is away."""

    pause: float = 0.0
    silent: bool = False
    lines: list[Sequence[str]] = field(default_factory=list)
    host: str = "login"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        self.lines.append(argv)
        time.sleep(self.pause)
        if self.silent:
            raise EngineUnavailable("no answer")
        plan = argv[argv.index("/shared") + 2 :] if "/shared" in argv else ()
        outcomes = (f"{number} submitted\n" for number in range(len(plan) // 3))
        return CommandResult(0, "".join(outcomes).encode(), "")

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return [*argv]

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


@pytest.mark.parametrize("silent", [False, True])
def test_the_queue_is_read_once_in_an_interval_for_all_callers(silent: bool) -> None:
    login = Login(silent=silent)
    reader = QueueReader(login, interval=30)
    for _ in range(3):
        if silent:
            with pytest.raises(EngineUnavailable):
                reader.recent()
        else:
            reader.recent()
    assert len(login.lines) == 1
    assert 29 < reader.due <= 30


def test_a_watch_waits_for_its_turn_to_ask() -> None:
    login = Login()
    closing = Event()
    reader = QueueReader(login, interval=0.2)
    began = time.monotonic()
    for _ in range(3):
        reader.next(closing)
    assert time.monotonic() - began >= 0.4
    closing.set()
    with pytest.raises(EngineUnavailable):
        reader.next(closing)
    assert len(login.lines) == 3


def test_a_slow_slurm_is_asked_half_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.slurm.queue.reader.SLOW", 0.01)
    reader = QueueReader(Login(pause=0.02), interval=30)
    reader.recent()
    assert reader.due > 59


def test_submissions_that_wait_together_go_in_one_session() -> None:
    login = Login(pause=0.05)
    courier = Courier(login, "/shared")
    parcels = [RunParcel(f"workloads/{number}", 1, NEW, {"batch.sh": ""}) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(courier.hand_over, parcels)) == {"submitted"}
    assert len(login.lines) <= 3


def test_two_tries_of_one_run_never_go_together() -> None:
    login = Login(pause=0.05)
    courier = Courier(login, "/shared")
    parcels = [RunParcel("workloads/a", 1, how, {"batch.sh": ""}) for how in (NEW, AGAIN)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(courier.hand_over, parcels))
    assert len(login.lines) == 2


def test_an_answer_that_is_lost_is_lost_to_all_of_its_session() -> None:
    courier = Courier(Login(silent=True), "/shared")
    parcels = [RunParcel(f"workloads/{number}", 1, NEW, {}) for number in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for parcel in parcels:
            pool.submit(courier.hand_over, parcel)
    assert all(isinstance(it.outcome.exception(), EngineUnavailable) for it in parcels)
