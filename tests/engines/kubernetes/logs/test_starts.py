"""Output is kept by the starts of its container, also while the API is behind the node. No cluster.

The pods of ``Nodes`` say what the API says; ``log`` and ``before`` are what the node has.
"""

from typing import Any

import pytest

from engines.base import EngineUnavailable
from engines.kubernetes.logs.reader import GONE, ROTATED
from engines.kubernetes.logs.source import ended_starts
from tests.engines.kubernetes.logs.nodes import AT
from tests.engines.kubernetes.logs.reading import Reading, at, goes_on, line
from tests.waiting import wait_for


def test_while_the_api_is_behind_each_start_keeps_its_own_output(
    reading: Reading,
) -> None:
    """And the rest of the last is read where it is now."""
    nodes = reading.nodes
    nodes.log = line(1, b"one")
    reading.hears()
    reading.until_followed(0, b"one\n")
    goes_on(nodes, before=nodes.log + line(2, b"two"), log=line(4, b"new"))
    reading.until(0, b"two\n")
    reading.hears(restarts=1, last=at(2))
    reading.until_ended(0)
    reading.until(1, b"new\n")
    assert reading.texts == {0: b"one\ntwo\n", 1: b"new\n"}


@pytest.mark.parametrize("before", [b"", line(1, b"one")], ids=["silent", "not read yet"])
def test_a_silent_start_does_not_get_the_output_of_the_next(
    reading: Reading, before: bytes
) -> None:
    nodes = reading.nodes
    nodes.log = b""
    reading.hears()
    wait_for(lambda: reading.take() and len(nodes.answers) > 1)
    goes_on(nodes, before=before, log=line(4, b"new"))
    wait_for(lambda: reading.take() and len(nodes.answers) > 3)
    reading.hears(restarts=1, last=at(2))
    reading.until_ended(0)
    reading.until(1, b"new\n")
    assert reading.texts == {0: before[31:], 1: b"new\n"}


def test_a_start_does_not_wait_for_the_first_word_of_the_next(reading: Reading) -> None:
    """That says nothing for long."""
    nodes = reading.nodes
    nodes.log = b""
    reading.hears()
    wait_for(lambda: reading.take() and len(nodes.answers) > 1)
    nodes.before = line(1, b"one")  # by then the answer may be of the next start
    reading.hears(restarts=1, last=at(2))
    reading.until_ended(0)
    assert reading.texts[0] == b"one\n"


def test_a_restart_may_be_told_while_the_node_answers(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the answer is of the next start, which says nothing for long."""
    nodes = reading.nodes
    nodes.log = b""
    nodes.before = line(1, b"one")
    find = nodes.find

    def told(path: str) -> dict[str, Any] | None:
        reading.hears(restarts=1, last=at(2))
        return find(path)

    monkeypatch.setattr(nodes, "find", told)
    reading.hears()
    reading.until_ended(0)
    assert reading.texts[0] == b"one\n"


def test_the_end_of_a_start_is_not_that_of_the_next_one(reading: Reading) -> None:
    """The API reports an end when its node has already started the next attempt."""
    nodes = reading.nodes
    nodes.before = line(1, b"one")
    nodes.log = line(4, b"new")
    reading.hears(ended=at(2))
    reading.until_ended(0)
    assert reading.texts == {0: b"one\n"}


@pytest.mark.parametrize("is_read", [False, True])
def test_the_previous_log_may_already_be_of_the_next_start(reading: Reading, is_read: bool) -> None:
    """Of one that failed as well, while the API still says that the first start runs. The first
    log is gone by then, and a line says so unless all of it had been read."""
    nodes = reading.nodes
    nodes.log = line(1, b"one")
    reading.hears()
    reading.until_followed(0, b"one\n")
    nodes.before = nodes.log = line(5, b"new")
    if is_read:
        nodes.answers[-1].shutdown()
    else:
        with reading.streams._lock:
            next(iter(reading.streams._all())).cut()
    wait_for(lambda: reading.take() and len(nodes.answers) > 4)
    assert reading.texts == {0: b"one\n"}
    nodes.started = at(4)
    reading.hears(ended=at(6), restarts=1, last=at(2))
    reading.until_ended(0)
    reading.until(1, b"new\n")
    assert reading.texts == {0: b"one\n" + (b"" if is_read else GONE), 1: b"new\n"}


def test_output_that_a_node_lost_is_announced_without_a_new_start(reading: Reading) -> None:
    nodes = reading.nodes
    nodes.log = line(1, b"one")
    reading.hears()
    reading.until_followed(0, b"one\n")
    nodes.log = line(20, b"later")
    nodes.answers[-1].shutdown()
    reading.until(0, b"later\n")
    assert reading.texts == {0: b"one\n" + ROTATED + b"later\n"}


@pytest.mark.parametrize("has_gone_on", [False, True])
def test_a_later_start_is_known_by_the_time_of_the_previous_log(
    reading: Reading, has_gone_on: bool
) -> None:
    nodes = reading.nodes
    nodes.started = at(10)
    nodes.before = line(1, b"first")
    nodes.log = line(11, b"second")
    reading.hears(restarts=1, last=at(5))
    reading.until(1, b"second\n")
    reading.until_ended(0)
    goes_on(
        nodes,
        before=nodes.log + line(12, b"rest") if has_gone_on else nodes.before,
        log=line(30, b"later"),
    )
    reading.until(1, b"rest\n" if has_gone_on else b"later\n")
    rest = b"rest\n" if has_gone_on else ROTATED + b"later\n"
    assert reading.texts == {0: b"first\n", 1: b"second\n" + rest}


def test_a_start_whose_log_the_cluster_dropped_says_so(reading: Reading) -> None:
    """And gets nothing of the one that is the last by now."""
    nodes = reading.nodes
    nodes.log = line(1, b"one")
    reading.hears()
    reading.until_followed(0, b"one\n")
    nodes.started = at(10)
    nodes.before = line(11, b"second")
    nodes.log = line(30, b"third")
    reading.hears(restarts=1, last=at(5))
    with reading.streams._lock:
        next(one for one in reading.streams._all() if one.log.start == 0).cut()
    reading.until_ended(0)
    assert reading.texts[0] == b"one\n" + GONE


@pytest.mark.parametrize(
    ("is_read", "word"),
    [(False, b""), (True, b""), (True, b"rpc error: code = NotFound desc = container: not found")],
    ids=["cut", "to its end", "to its end, and the container removed"],
)
def test_a_pod_removed_before_its_log_was_read_leaves_a_notice(
    reading: Reading, is_read: bool, word: bytes
) -> None:
    nodes = reading.nodes
    nodes.log = line(1, b"one") + word
    reading.hears()
    reading.until(0, b"one\n")
    if not word:
        nodes.until_followed()
    nodes.pods.clear()
    (one,) = reading.streams._all()
    with reading.streams._lock:
        if not is_read:
            one.cut()
        one.on_change(None)
    nodes.answers[-1].shutdown()
    reading.until_ended(0)
    assert reading.texts == {0: b"one\n" + (b"" if is_read else GONE)}


def test_the_unfinished_end_of_a_log_outlives_its_container(reading: Reading) -> None:
    nodes = reading.nodes
    nodes.log = line(1, b"one") + line(2, b"bye")[:-1]
    reading.hears()
    reading.until_followed(0, b"one\n")
    nodes.answers[-1].shutdown()
    reading.until(0, b"bye")
    nodes.log = b"rpc error: code = NotFound desc = container: not found"
    asked = len(nodes.answers)
    wait_for(lambda: reading.take() and len(nodes.answers) > asked)
    nodes.end()
    nodes.pods.clear()
    with reading.streams._lock:
        next(iter(reading.streams._all())).on_change(None)
    reading.until_ended(0)
    assert reading.texts == {0: b"one\nbye"}


def test_an_answer_waits_while_its_node_does_not_say_whose_it_is(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = reading.nodes
    asked: list[str] = []

    def refuse(path: str, **query: object) -> bytes:
        asked.append(path)
        raise EngineUnavailable("timed out")

    with monkeypatch.context() as patch:
        patch.setattr(nodes, "get_bytes", refuse)
        reading.hears()
        wait_for(lambda: reading.take() and len(asked) > 1)
        assert reading.texts == {0: b""}
    reading.until(0, b"hello\n")


def test_a_container_that_waits_to_be_started_once_more_has_ended() -> None:
    status = {
        "name": "pytorch",
        "restartCount": 2,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"startedAt": AT, "finishedAt": at(5)}},
    }
    pod = {"status": {"containerStatuses": [status]}}
    assert ended_starts(pod, "pytorch") == 3
