"""A collector of logs without a database: what real pods print goes to a real store."""

import time
from collections.abc import Callable
from contextlib import closing

from engines.base import Launch, Observation
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.logs.follower import Follower
from tests.engines.kubernetes.conftest import KubernetesRig
from workloads import logs

PIECE = 64 * 1024


class Keeper:
    """Watches one workload and stores its logs, as ``workloads.worker.collect`` does."""

    def __init__(self, rig: KubernetesRig, launched: Launch, *, streams: int = 64) -> None:
        self._rig = rig
        self.launched = launched
        self._streams = streams
        self.ended: set[logs.Stream] = set()
        self.here: set[logs.Stream] = set()  # streams for which nothing more is waited
        self.late: set[str] = set()
        self.seen: Observation | None = None
        self.restart()

    def restart(self) -> None:
        """Continue as a new process would, which knows only what the store knows."""
        self.engine = KubernetesEngine(
            self._rig.api, prefix="trainyard-test-", log_streams=self._streams
        )
        self._followed: set[logs.Stream] = set()

    def until(self, is_enough: Callable[[], bool], *, timeout: float = 90) -> None:
        """Watch, and store logs, until ``is_enough`` holds. Fails after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        with closing(self.engine.watch()) as watch:
            for seen in watch:
                if seen and seen.workload_id == self.launched.handle.workload_id:
                    self.seen = seen
                self._keep()
                if is_enough():
                    return
                assert time.monotonic() < deadline, (self.seen, self.texts(), self.ended)

    def texts(self) -> dict[tuple[int, int], bytes]:
        """Return the stored logs by attempt and rank."""
        mine = logs.streams(self.launched.handle.workload_id)
        return {(one.attempt, one.rank): logs.read_output(one, 0, 10**9) for one in mine}

    def followers(self) -> list[Follower]:
        return list(self.engine._streams._all())

    def _keep(self) -> None:
        handle = self.launched.handle
        if handle.workload_id not in self.engine.news():
            return
        followed = self.engine.logs(handle, run=self.launched.run)
        streams = {logs.stream_of_log(handle.workload_id, log): log for log in followed}
        # The engine forgets a log whose pod is gone once all of it was stored.
        self.ended |= self._followed - streams.keys()
        self._followed = {*streams}
        for stream, log in streams.items():
            more = True
            while more:
                offset = logs.size(stream)
                cursor = logs.engine_cursor(stream)
                piece = self.engine.read_log(handle, log, offset=offset, cursor=cursor, limit=PIECE)
                more = bool(piece.data)
                self.late |= {piece.late} - {""}
                if piece.data:
                    assert logs.append_output(
                        stream, log, piece.data, offset=offset, cursor=piece.cursor
                    )
                elif piece.ended:
                    self.ended.add(stream)
                if not (piece.data or (piece.awaited and not piece.ended)):
                    self.here.add(stream)
