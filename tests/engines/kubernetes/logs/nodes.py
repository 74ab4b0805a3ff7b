"""Plays the nodes that send logs, and a collector that reads them. No cluster is needed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event, Lock
from typing import Any, cast
from uuid import UUID, uuid4

from engines.base import EngineRefused, EngineUnavailable
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.labels import REPLICA_INDEX, REPLICA_TYPE, RUN, WORKLOAD
from engines.kubernetes.logs.streams import LogStreams
from engines.kubernetes.watch.snapshot import Snapshot
from engines.logs import Log, LogChunk
from tests.waiting import wait_for

AT = "2026-01-01T00:00:00Z"
LINE = b"2026-01-01T00:00:00.000000000Z hello\n"


def ago(seconds: int) -> str:
    """Return the time of so many seconds ago."""
    return f"{datetime.now(UTC) - timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


class Answer:
    """Sends a text. One that ``follows`` then stays silent until it is shut down."""

    def __init__(self, text: bytes, *, follows: bool, block: int) -> None:
        self.text = text
        self.follows = follows
        self.over = Event()
        self.sent = 0
        self.block = block

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()

    def stream(self, size: int) -> Iterator[bytes]:
        while block := self.text[self.sent : self.sent + min(size, self.block)]:
            self.sent += len(block)
            yield block
        if self.follows:
            self.over.wait(30)

    def shutdown(self) -> None:
        self.over.set()


class Nodes:
    """Plays the API. Pods of nodes that are ``away`` have no logs. It counts the requests for each
    node.

    ``log`` is what each pod's log contains at the moment, and ``answers`` are what was sent of it,
    in blocks of at most ``block`` bytes. All containers ``started`` at the same time. ``before`` is
    the log of the start before, as the node knows it; the pods may not mention that start yet.
    """

    def __init__(self, *, started: str = AT) -> None:
        self.started = started
        self.pods: dict[str, dict[str, Any]] = {}
        self.log = LINE
        self.block = 65_536
        self.before: bytes | None = None
        self.answers: list[Answer] = []
        self.has_ended = False
        self.away: set[str] = set()
        self.asked: list[str] = []
        self.most: dict[str, int] = {}
        self._busy: dict[str, int] = {}
        self._lock = Lock()
        self.questions = 0
        self.slow = Event()  # once set, a node that is away refuses

    def find(self, path: str) -> dict[str, Any] | None:
        return self.pods.get(path.rsplit("/", 1)[1])

    def follow(self, path: str, query: Mapping[str, object], *, silence: float) -> Answer:
        pod = self.pods.get(path.split("/")[-2])
        if pod is None:
            raise NotFound("pods not found")
        node = pod["spec"]["nodeName"]
        with self._counted(node):
            self.asked.append(pod["metadata"]["name"])
            if node in self.away:
                self.slow.wait(10)
                raise EngineUnavailable("dial tcp: no route to host")
        log = self._log(query)
        follows = "follow" in query and not self.has_ended
        self.answers.append(Answer(log, follows=follows, block=self.block))
        return self.answers[-1]

    def until_followed(self) -> None:
        """Wait until the last answer follows the log."""
        wait_for(lambda: self.answers and self.answers[-1].follows)

    def end(self) -> None:
        """End the container: no answer, whenever it began, stays open any longer."""
        self.has_ended = True
        for answer in self.answers:
            answer.shutdown()

    def get_bytes(self, path: str, *, limitBytes: int, **query: object) -> bytes:
        self.questions += 1
        return self._log(query)[:limitBytes]

    def _log(self, query: Mapping[str, object]) -> bytes:
        if "previous" not in query:
            return self.log
        if self.before is None:
            raise EngineRefused("previous terminated container not found")
        return self.before

    @contextmanager
    def _counted(self, node: str) -> Iterator[None]:
        with self._lock:
            self._busy[node] = self._busy.get(node, 0) + 1
            self.most[node] = max(self.most.get(node, 0), self._busy[node])
        try:
            yield
        finally:
            with self._lock:
                self._busy[node] -= 1

    def snapshot(
        self,
        node: str,
        count: int,
        *,
        ended: str = "",
        code: int = 0,
        restarts: int = 0,
        last: str = "",
        waits: bool = False,
    ) -> Snapshot:
        """Return the snapshot of a gang whose pods all run on one node, or ran there until they
        ``ended`` with an exit ``code``, after which they are restarted unless it is 0. If they were
        restarted, the start before ended at ``last``. ``waits``: for the next start."""
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
        snapshot = Snapshot()
        snapshot.take_job(PYTORCH, "ADDED", job)
        for index in range(count):
            pod = self._pod(f"{node}-{index}", node, index, label)
            if ended:
                pod["status"]["phase"] = "Running" if code else "Succeeded"
                end = {"startedAt": self.started, "finishedAt": ended, "exitCode": code}
                pod["status"]["containerStatuses"][0]["state"] = {"terminated": end}
            status = pod["status"]["containerStatuses"][0]
            status["restartCount"] = restarts
            status["lastState"] = {"terminated": {"finishedAt": last}} if last else {}
            status["state"] = {"waiting": {}} if waits else status["state"]
            snapshot.take_pod("ADDED", pod)
        return snapshot

    def _pod(self, name: str, node: str, index: int, label: dict[str, str]) -> dict[str, Any]:
        running = {
            "name": "pytorch",
            "state": {"running": {"startedAt": self.started}},
            "restartCount": 0,
        }
        self.pods[name] = {
            "metadata": {
                "name": name,
                "namespace": "a",
                "uid": name,
                "labels": label | {REPLICA_TYPE: "worker", REPLICA_INDEX: str(index)},
                "creationTimestamp": AT,
                "resourceVersion": "2",
            },
            "spec": {"nodeName": node, "restartPolicy": "OnFailure"},
            "status": {"phase": "Running", "containerStatuses": [running]},
        }
        return self.pods[name]


def streams_of(nodes: Nodes, *, streams: int = 64) -> LogStreams:
    return LogStreams(cast(Api, nodes), streams=streams)


def read(streams: LogStreams, uid: UUID, cursors: dict[Log, str]) -> list[LogChunk]:
    """Read a piece of each log, as a collector does, and remember the cursors."""
    streams.news()
    pieces = []
    for log in streams.logs(uid, 1):
        piece = streams.read(uid, log, cursors.get(log, ""), 1000)
        cursors[log] = piece.cursor
        pieces.append(piece)
    return pieces
