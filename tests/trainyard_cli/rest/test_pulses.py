"""The stream of changes as the command line hears it: through its ends, outages and refusals."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

import pytest

from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.rest import pulses
from trainyard_cli.rest.client import RestClient

READY = ["retry: 1000", "", "event: ready", "id: 7-1", "data: {}", ""]
TWO = [
    "event: workload",
    'data: {"id": "a"}',
    "",
    "event: workload",
    "data: {}",
    "id: 9-2",
    "",
    ":",
]
GONE = CliError("Cannot reach it.", code=ExitCode.UNREACHABLE)


class Connections:
    """In the place of the client: each connection gets the next of the answers."""

    def __init__(self, *answers: list[str] | CliError) -> None:
        self.answers = iter(answers)
        self.asked = list[str]()

    @contextmanager
    def stream(self, _: str, *, headers: dict[str, str], **__: Any) -> Iterator[Iterator[str]]:
        self.asked.append(headers.get("Last-Event-ID", ""))
        answer = next(self.answers)
        if isinstance(answer, CliError):
            raise answer
        yield iter(answer)


@pytest.fixture(autouse=True)
def passed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Nobody waits; each wait is a second of the clock."""
    seconds = 0.0

    def sleep(_: float) -> None:
        nonlocal seconds
        seconds += 1

    monkeypatch.setattr(pulses, "sleep", sleep)
    monkeypatch.setattr(pulses, "monotonic", lambda: seconds)
    return lambda: seconds


def heard(connections: Connections, count: int) -> int:
    return len(list(islice(pulses.pulses(cast(RestClient, connections)), count)))


def test_several_changes_at_once_are_one_reason_to_look() -> None:
    assert list(pulses.event_ids([*READY, *TWO])) == ["7-1", "9-2"]


def test_an_outage_is_survived_and_what_was_missed_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    connections = Connections([*READY, *TWO], GONE, GONE, READY)
    assert heard(connections, 3) == 3
    assert connections.asked == ["", "9-2", "9-2", "9-2"]
    assert capsys.readouterr().err == "Cannot reach it. Trying again for 5 minutes.\n"


def test_an_outage_of_five_minutes_is_told(passed: Callable[[], float]) -> None:
    with pytest.raises(CliError, match="Cannot reach it"):
        heard(Connections(READY, *[GONE] * 400), 2)
    assert 300 <= passed() < 310


def test_a_refusal_is_told_at_once(passed: Callable[[], float]) -> None:
    with pytest.raises(CliError, match="not signed in"):
        heard(Connections(CliError("not signed in", code=ExitCode.SIGNED_OUT)), 1)
    assert passed() == 0
