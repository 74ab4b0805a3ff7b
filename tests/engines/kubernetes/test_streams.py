"""Who gets a stream, and what is said of a node that gives none. No cluster."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from engines.base import EngineUnavailable
from engines.kubernetes import output
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import PYTORCH, REPLICA_INDEX, REPLICA_TYPE, RUN, WORKLOAD
from engines.kubernetes.known import Known
from engines.kubernetes.output import OPENING, Output
from engines.logs import Log, Piece
from tests.waiting import wait_for

AT = "2026-01-01T00:00:00Z"
LINE = b"2026-01-01T00:00:00.000000000Z hello\n"


class Answer:
    """Says a line, then nothing until it is shut down."""

    def __init__(self) -> None:
        self.over = Event()

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()

    def stream(self, _size: int) -> Iterator[bytes]:
        yield LINE
        self.over.wait(30)

    def shutdown(self) -> None:
        self.over.set()


class Nodes:
    """Plays the API: pods of nodes that are ``away`` have no logs. Counts what is asked of each."""

    def __init__(self) -> None:
        self.pods: dict[str, dict[str, Any]] = {}
        self.away: set[str] = set()
        self.asked: list[str] = []
        self.most: dict[str, int] = {}
        self._busy: dict[str, int] = {}
        self._lock = Lock()
        self.slow = Event()  # a node that is away says so when this is set

    def find(self, path: str) -> dict[str, Any]:
        return self.pods[path.rsplit("/", 1)[1]]

    def follow(self, path: str, query: Mapping[str, object], *, silence: float) -> Answer:
        pod = self.pods[path.split("/")[-2]]
        node = pod["spec"]["nodeName"]
        with self._counted(node):
            self.asked.append(pod["metadata"]["name"])
            if node in self.away:
                self.slow.wait(10)
                raise EngineUnavailable("dial tcp: no route to host")
        return Answer()

    @contextmanager
    def _counted(self, node: str) -> Iterator[None]:
        with self._lock:
            self._busy[node] = self._busy.get(node, 0) + 1
            self.most[node] = max(self.most.get(node, 0), self._busy[node])
        yield
        with self._lock:
            self._busy[node] -= 1

    def known(self, node: str, count: int) -> Known:
        """A gang whose pods all run on one node."""
        label = {WORKLOAD: str(uuid4())}
        job = {
            "metadata": {
                "labels": label,
                "annotations": {RUN: "1"},
                "creationTimestamp": AT,
                "resourceVersion": "1",
                "uid": "job",
            },
            "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": count}}},
        }
        made = Known()
        made.take_job(PYTORCH, "ADDED", job)
        for index in range(count):
            name = f"{node}-{index}"
            made.take_pod("ADDED", self._pod(name, node, index, label))
        return made

    def _pod(self, name: str, node: str, index: int, label: dict[str, str]) -> dict[str, Any]:
        running = {"name": "pytorch", "state": {"running": {"startedAt": AT}}, "restartCount": 0}
        self.pods[name] = {
            "metadata": {
                "name": name,
                "namespace": "a",
                "uid": name,
                "labels": label | {REPLICA_TYPE: "worker", REPLICA_INDEX: str(index)},
                "creationTimestamp": AT,
                "resourceVersion": "2",
            },
            "spec": {"nodeName": node},
            "status": {"phase": "Running", "containerStatuses": [running]},
        }
        return self.pods[name]


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


def made(nodes: Nodes, *, streams: int = 64) -> Output:
    return Output(cast(Api, nodes), streams=streams)


def read(found: Output, uid: UUID, cursors: dict[Log, str]) -> list[Piece]:
    """A piece of each log, as a collector would."""
    found.news()
    pieces = []
    for log in found.logs(uid, 1):
        piece = found.read(uid, log, cursors.get(log, ""), 1000)
        cursors[log] = piece.cursor
        pieces.append(piece)
    return pieces


def test_a_node_that_is_away_keeps_back_its_own_logs_only(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "AWAY", (0.1, 0.2))
    nodes.away = {"down"}
    nodes.slow.set()
    found, down, up = made(nodes), uuid4(), uuid4()
    found.heed(down, nodes.known("down", 1))
    found.heed(up, nodes.known("up", 2))
    cursors: dict[Log, str] = {}
    late: list[str] = []

    def text(uid: UUID) -> bytes:
        pieces = read(found, uid, cursors)
        late.extend(piece.late for piece in pieces if piece.late)
        return b"".join(piece.data for piece in pieces)

    wait_for(lambda: text(up))
    wait_for(lambda: text(down) or late)
    assert "no route to host" in late[0]
    assert "down" in late[0]
    nodes.away.clear()
    assert wait_for(lambda: text(down)) == b"hello\n"
    assert not any(piece.late for piece in read(found, down, cursors))


def test_a_dead_node_takes_few_streams(nodes: Nodes) -> None:
    nodes.away = {"down"}
    found, down, up = made(nodes, streams=8), uuid4(), uuid4()
    found.heed(down, nodes.known("down", 20))
    cursors: dict[Log, str] = {}
    read(found, down, cursors)
    wait_for(lambda: nodes.most.get("down") == OPENING)
    found.heed(up, nodes.known("up", 1))
    wait_for(lambda: any(piece.data for piece in read(found, up, cursors)))
    assert nodes.most["down"] == OPENING
    nodes.slow.set()


def test_quiet_logs_are_not_asked_for_again(nodes: Nodes) -> None:
    found, uid = made(nodes), uuid4()
    found.heed(uid, nodes.known("up", 5))
    assert found.news() == {uid}
    cursors: dict[Log, str] = {}
    wait_for(lambda: read(found, uid, cursors) and all(len(cursors[log]) for log in cursors))
    wait_for(lambda: not found.news())
    assert len(nodes.asked) == 5


def test_they_take_turns_where_there_are_too_few(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "TURN", 0.05)
    found, uid = made(nodes, streams=2), uuid4()
    found.heed(uid, nodes.known("up", 6))
    cursors: dict[Log, str] = {}
    wait_for(lambda: read(found, uid, cursors) and len(set(nodes.asked)) == 6)
    assert nodes.most["up"] <= 2


def test_pods_that_leave_come_first(nodes: Nodes) -> None:
    found, uid = made(nodes, streams=1), uuid4()
    known = nodes.known("up", 4)
    nodes.away = {"up"}
    found.heed(uid, known)
    cursors: dict[Log, str] = {}
    read(found, uid, cursors)
    wait_for(lambda: len(nodes.asked) == 1)
    last = known.pods["up-3"]
    last["metadata"]["deletionTimestamp"] = AT
    found.heed(uid, known)
    nodes.away.clear()
    nodes.slow.set()
    wait_for(lambda: found.news() is not None and "up-3" in nodes.asked)
    assert nodes.asked.index("up-3") <= 2


def test_after_the_watch_all_is_forgotten(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LINGER", 0.05)
    found, uid = made(nodes), uuid4()
    found.heed(uid, nodes.known("up", 1))
    read(found, uid, {})
    found.rest()
    found.wake()
    assert found.logs(uid, 1)
    found.rest()
    wait_for(lambda: not found.logs(uid, 1))
