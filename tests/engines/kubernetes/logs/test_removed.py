"""A node removes the log of a start once the next one ended too, and does not say so. No cluster.

Until it waits to start the container for the third time, it knows of no log before its current one,
and the pod may still show that the first start runs.
"""

import pytest

from engines.kubernetes.logs import source
from engines.kubernetes.logs.reader import GONE, ROTATED
from tests.engines.kubernetes.logs.reading import Reading, at, goes_on, line
from tests.waiting import wait_for


@pytest.fixture
def patient(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> Reading:
    """A collector that has read one line, and waits very long for the API to catch up."""
    monkeypatch.setattr(source, "CATCH_UP_SECONDS", 1000.0)
    reading.nodes.log = line(1, b"one")
    reading.hears()
    reading.until_followed(0, b"one\n")
    return reading


def asks(reading: Reading) -> None:
    """Read until the node was asked for the previous log, and had none."""
    asked = reading.nodes.questions
    wait_for(lambda: reading.take() and reading.nodes.questions > asked)


def test_output_of_the_next_start_waits_until_the_pod_shows_it(patient: Reading) -> None:
    goes_on(patient.nodes, before=None, log=line(4, b"new"))
    asks(patient)
    assert patient.texts == {0: b"one\n"}
    patient.hears(ended=at(5), code=1, restarts=1)
    patient.until_ended(0)
    patient.until(1, b"new\n")
    assert patient.texts == {0: b"one\n", 1: b"new\n"}


def test_while_a_container_waits_its_previous_log_is_not_an_older_one(
    patient: Reading,
) -> None:
    """The node waits to start the container for the third time: its current log and the one before
    are the same."""
    goes_on(patient.nodes, before=None, log=line(4, b"new"))
    asks(patient)
    patient.nodes.before = patient.nodes.log
    with patient.streams._lock:
        next(iter(patient.streams._all())).cut()
    wait_for(lambda: patient.take() and len(patient.nodes.answers) > 5)
    assert patient.texts == {0: b"one\n"}
    patient.hears(waits=True, restarts=1, last=at(5))
    patient.until_ended(0)
    patient.until(1, b"new\n")
    assert patient.texts == {0: b"one\n", 1: b"new\n"}


def test_a_log_that_was_cut_and_then_removed_says_so(patient: Reading) -> None:
    with patient.streams._lock:
        next(iter(patient.streams._all())).cut()
    patient.nodes.log = line(4, b"new")
    patient.hears(waits=True, restarts=1, last=at(5))
    patient.until_ended(0)
    assert patient.texts[0] == b"one\n" + GONE


@pytest.mark.parametrize("seconds", [2, 4], ids=["in its last second", "later"])
def test_a_line_after_the_end_of_a_start_waits_for_the_next(patient: Reading, seconds: int) -> None:
    goes_on(patient.nodes, before=None, log=line(seconds, b"new"))
    patient.hears(ended=at(2), code=1)
    asks(patient)
    assert patient.texts == {0: b"one\n"}
    patient.hears(ended=at(seconds + 1), code=1, restarts=1)
    patient.until_ended(0)
    patient.until(1, b"new\n")
    assert patient.texts == {0: b"one\n", 1: b"new\n"}


@pytest.mark.parametrize("code", [0, 1])
def test_a_line_before_the_end_of_a_start_is_taken_at_once(patient: Reading, code: int) -> None:
    """In its last second, too, if no other start can follow."""
    goes_on(patient.nodes, before=None, log=line(3 - code, b"rest"))
    patient.hears(ended=at(3), code=code)
    patient.until(0, b"rest\n")
    assert patient.texts == {0: b"one\n" + ROTATED + b"rest\n"}


def test_nothing_is_waited_for_once_the_pod_is_gone(patient: Reading) -> None:
    goes_on(patient.nodes, before=None, log=line(20, b"later"))
    asks(patient)
    patient.nodes.pods.clear()
    with patient.streams._lock:
        next(iter(patient.streams._all())).on_change(None)
    patient.until(0, b"later\n")


def test_a_stream_that_waits_is_given_up_when_nobody_wants_it(patient: Reading) -> None:
    goes_on(patient.nodes, before=None, log=line(20, b"later"))
    asks(patient)
    (one,) = patient.streams._all()
    with patient.streams._lock:
        one.stop()
    wait_for(lambda: not patient.streams._serving)
    assert patient.texts == {0: b"one\n"}
