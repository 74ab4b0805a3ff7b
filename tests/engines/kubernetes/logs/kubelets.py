"""Plays a kubelet that rotates a log and sends it, sometimes late, with a clock of its own.

Its behavior is taken from the source of kubelets (``pkg/logs/logs.go`` of k8s.io/cri-client, 1.37).
An answer reads the file that it began with to its end. If it follows the log, it then watches the
folder, and opens the newest file whenever it hears that one was created.
"""

import random
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from engines.base import EngineRefused

STEP = 0.1  # seconds
LOOK = 10.0  # seconds between two looks for full files
FULL = 40  # lines
START = datetime(2026, 1, 1, tzinfo=UTC)
Lines = list[bytes]


class Kubelet:
    """The kubelet, and the API in front of it. ``path`` is the newest file, missing for a moment
    during a rotation; ``open`` is the one that the container writes to. ``busy`` is the
    probability, per second, that its connections stall."""

    def __init__(self, chance: random.Random, pod: dict[str, Any], *, busy: float) -> None:
        self.chance = chance
        self.pod = pod
        self.busy = busy
        self.now = 0.0
        self.written = 0
        self.open: Lines = []
        self.path: Lines | None = self.open
        self.rotations = 0
        self.watching: list[Sent] = []
        self.is_over = False
        self.longest = 15.0  # longest pause of the program, in seconds
        self._look = LOOK
        self._pause = 0.0
        self._pace = 1

    def stamp(self, more: int = 0) -> bytes:
        """Return the present time as lines begin with it, plus ``more`` microseconds."""
        at = START + timedelta(microseconds=round(self.now * 1e6) + more)
        return b"%s.%06d000Z" % (at.strftime("%Y-%m-%dT%H:%M:%S").encode(), at.microsecond)

    def time(self) -> float:
        """Return the present Unix time, as ``time.time`` does."""
        return START.timestamp() + self.now

    def monotonic(self) -> float:
        return 1.0 + self.now

    def end(self) -> None:
        """End the program."""
        self.is_over = True
        state = {"startedAt": f"{START:%Y-%m-%dT%H:%M:%SZ}", "exitCode": 0}
        state["finishedAt"] = self.stamp()[:19].decode() + "Z"
        self.pod["status"]["phase"] = "Succeeded"
        self.pod["status"]["containerStatuses"][0]["state"] = {"terminated": state}

    def find(self, _path: str) -> dict[str, Any]:
        return self.pod

    def get_bytes(self, _path: str, **_query: object) -> bytes:
        raise EngineRefused("previous terminated container not found")

    def follow(self, _path: str, query: Mapping[str, str], *, silence: float) -> "Sent":
        return Sent(self, follows="follow" in query, since=query.get("sinceTime", ""))

    def step(self) -> None:
        """Let time pass: the program writes, and the kubelet rotates."""
        self.now += STEP
        if self.path is None and self.chance.random() < 0.7:
            self.path = self.open = []
            self.tell("create")
        if self.is_over:
            return
        self._write()
        if self.now >= self._look:
            late = self.chance.choice([0, 0, 0, 2, 5]) if self.busy else 0
            self._look = (self._look // LOOK + 1) * LOOK + late
            if len(self.open) >= FULL and self.path is not None:
                self.rotations += 1
                self.path = None
                self.tell("rename")

    def _write(self) -> None:
        if self.now < self._pause:
            return
        if self.chance.random() < 0.02:
            self._pause = self.now + self.chance.random() * self.longest
            self._pace = self.chance.choice([1, 2, 10])
        for more in range(self.chance.randint(0, self._pace)):
            self.open.append(self.stamp(more) + b" %d\n" % self.written)
            self.written += 1
            self.tell("write")

    def tell(self, event: str) -> None:
        for answer in self.watching:
            if not answer.events or answer.events[-1] != event:
                answer.events.append(event)


class Sent:
    """An answer, as a context: the file that it reads, and the line where it is."""

    def __init__(self, kubelet: Kubelet, *, follows: bool, since: str) -> None:
        self.kubelet = kubelet
        self.follows = follows
        self.since = since[:19].encode()
        self.file = kubelet.path
        self.at = 0
        self.events: deque[str] = deque()

    def __enter__(self) -> "Sent":
        return self

    def __exit__(self, *_: object) -> None:
        if self in self.kubelet.watching:
            self.kubelet.watching.remove(self)

    def shutdown(self) -> None:
        """The reader asks for no more."""

    def stream(self, _size: int) -> Iterator[bytes]:
        if self.file is None:
            yield b'failed to try resolving symlinks in path "0.log": no such file'
            return
        is_found = True
        while True:
            yield from self._send()
            if not self.follows or not is_found:
                return
            if self not in self.kubelet.watching:
                self.kubelet.watching.append(self)
                continue
            is_found = not self.kubelet.is_over
            if is_found:
                self._hear()

    def _send(self) -> Iterator[bytes]:
        """Send the rest of the file. The connection sometimes stalls while something is on its way,
        or is cut off."""
        chance = self.kubelet.chance
        busy = self.kubelet.busy
        while lines := (self.file or [])[self.at : self.at + 7]:
            self.at += len(lines)
            text = b"".join(line for line in lines if line[:19] >= self.since)
            is_opening = self.follows and self not in self.kubelet.watching
            if text and not is_opening and chance.random() < busy / 8:
                for _ in range(int(chance.choice([0.5, 2.5, 6, 14, 25]) / STEP)):
                    self.kubelet.step()
            if text:
                yield text
            if chance.random() < busy / 40 and not self.kubelet.is_over:
                raise OSError("The kubelet restarted, or a proxy in front of it.")

    def _hear(self) -> None:
        """Wait for an event."""
        while not self.events and not self.kubelet.is_over:
            self.kubelet.step()
        is_created = bool(self.events) and self.events.popleft() == "create"
        if is_created and self.kubelet.path is not None:
            self.file = self.kubelet.path
            self.at = 0
