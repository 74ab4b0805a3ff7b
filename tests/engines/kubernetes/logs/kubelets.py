"""Plays a kubelet that rotates a log and sends it, sometimes late, with a clock of its own.

Its behavior is taken from the source of kubelets, new and ``old`` (1.20). An answer reads the file
that it began with to the end, and opens the newest one when it hears of it. An old kubelet only
hears of the old file; at that moment it mostly finds no new one, and so stays with the old file
until that is removed.
"""

import random
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.follower import RENEW_SECONDS
from engines.kubernetes.logs.reader import Reader

STEP = 0.1  # seconds
LOOK = 10.0
FULL = 40  # lines
START = datetime(2026, 1, 1, tzinfo=UTC)
Lines = list[bytes]


@dataclass
class Sent:
    """An answer: the file that it reads, and the line where it is."""

    follows: bool
    since: bytes
    file: Lines
    at: int = 0
    watched: Lines | None = None  # the file whose events it hears, once it has read to the end
    events: deque[str] = field(default_factory=deque)


class Kubelet:
    """The kubelet. ``path`` is the newest file, missing for a moment during a rotation; ``open`` is
    the one that the container writes to. ``busy`` is the probability, per second, that the kubelet
    pauses."""

    def __init__(self, chance: random.Random, *, old: bool, busy: float) -> None:
        self.chance = chance
        self.old = old
        self.busy = busy
        self.now = 0.0
        self.written = 0
        self.open: Lines = []
        self.path: Lines | None = self.open
        self.before: Lines = []  # the last file that was rotated
        self.answers: list[Sent] = []
        self.is_read = False  # before that, nobody can know what a new log lacks
        self.ended = b""  # when the container ended
        self._look = LOOK
        self._frozen = 0.0
        self._pause = 0.0
        self._pace = 1
        self.longest = 15.0  # longest pause of the program, in seconds

    def stamp(self, more: int = 0) -> bytes:
        """Return the present time as lines begin with it, plus ``more`` microseconds."""
        at = START + timedelta(microseconds=round(self.now * 1e6) + more)
        return b"%s.%06d000Z" % (at.strftime("%Y-%m-%dT%H:%M:%S").encode(), at.microsecond)

    @property
    def is_over(self) -> bool:
        return bool(self.ended)

    def end(self) -> None:
        """End the program."""
        self.ended = self.stamp()[:19] + b"Z"

    def step(self) -> None:
        """Let time pass: the program writes, and the kubelet rotates."""
        self.now += STEP
        if self.path is None and self.chance.random() < 0.7:
            self.path = self.open = []
            self._tell("create")
        if not self.is_over:
            self._write()
        if self.now >= self._look:
            late = self.chance.choice([0, 0, 0, 2, 5]) if self.busy else 0
            self._look = (self._look // LOOK + 1) * LOOK + late
            if len(self.open) >= FULL and self.path is not None and not self.is_over:
                self._rotate()
        if self.is_read and self.chance.random() < self.busy * STEP:
            self._frozen = self.now + self.chance.choice([0.5, 2.5, 6, 14, 25])

    def _write(self) -> None:
        if self.now < self._pause:
            return
        if self.chance.random() < 0.02:
            self._pause = self.now + self.chance.random() * self.longest
            self._pace = self.chance.choice([1, 2, 10])
        for more in range(self.chance.randint(0, self._pace)):
            self.open.append(self.stamp(more) + b" %d\n" % self.written)
            self.written += 1
            self._tell("write")

    def _rotate(self) -> None:
        for answer in self.answers:
            if self.old and answer.watched is self.before:
                answer.events.append("removed")
        self.before = self.open
        self.path = None
        self._tell("rename")

    def _tell(self, event: str) -> None:
        for answer in self.answers:
            is_heard = not self.old or (event != "create" and answer.watched is self.open)
            is_told = bool(answer.events) and answer.events[-1] == event
            if answer.watched is not None and is_heard and not is_told:
                answer.events.append(event)

    def answer(self, since: str, *, follows: bool) -> Sent | None:
        """Begin an answer. ``None`` while there is no file."""
        if self.path is None:
            return None
        self.answers.append(Sent(follows, since[:19].encode(), self.path))
        return self.answers[-1]

    def send(self, answer: Sent) -> tuple[bytes, bool]:
        """Return what an answer sends now, and whether it has ended."""
        told = b""
        is_cut = self.chance.random() < self.busy * STEP / 8
        if is_cut and answer.follows and self.is_read and not self.is_over:
            return told, True  # the kubelet restarted, or a proxy in front of it
        while self.now >= self._frozen:
            lines = answer.file[answer.at : answer.at + 7]
            answer.at += len(lines)
            told += b"".join(line for line in lines if line[:19] >= answer.since)
            if lines:
                if self.chance.random() < self.busy / 2:
                    break
                continue
            if not answer.follows or (self.is_over and not answer.events):
                return told, True
            if answer.watched is None:
                answer.watched = answer.file if self.path is None else self.path
            elif not answer.events:
                break
            else:
                self._hear(answer, answer.events.popleft())
        return told, False

    def _hear(self, answer: Sent, event: str) -> None:
        opens = ("rename", "removed") if self.old else ("create",)
        if event in opens and self.path is not None:
            answer.file = self.path
            answer.at = 0
            answer.watched = self.path


class Collector:
    """Reads a kubelet's log as ``Follower`` does, with connections that sometimes end. It connects
    again when nothing comes for some time."""

    def __init__(self, kubelet: Kubelet) -> None:
        self.kubelet = kubelet
        self.chance = kubelet.chance
        self.text = b""
        self.reader = Reader(LogCursor())
        self._answer: Sent | None = None
        self._heard = 0.0
        self._again = 0.0

    def step(self) -> None:
        """Read what has arrived, and sometimes disconnect."""
        if self._answer is None:
            self._connect(follows=True)
            return
        data, is_over = self.kubelet.send(self._answer)
        if data:
            self._heard = self.kubelet.now
            self.kubelet.is_read = True
            for at in range(0, len(data), 200):
                self.text += self.reader.feed(data[at : at + 200])
        if not self.kubelet.is_read:
            return
        is_silent = self.kubelet.now - self._heard > RENEW_SECONDS[0]
        if is_over or is_silent or self.chance.random() < self.kubelet.busy * STEP / 4:
            self._leave()

    def end(self) -> bytes:
        """Read the rest once the container has ended, and return everything."""
        if self._answer is not None:
            self._leave()
        while self._answer is None:
            self.kubelet.step()
            self._connect(follows=False)
        is_over = False
        while not is_over:
            self.kubelet.step()
            data, is_over = self.kubelet.send(self._answer)
            self.text += self.reader.feed(data)
        return self.text + self.reader.finish()

    def _connect(self, *, follows: bool) -> None:
        if self.kubelet.now < self._again and follows:
            return
        self._answer = self.kubelet.answer(self.reader.cursor.since, follows=follows)
        if self._answer is not None:
            self._heard = self.kubelet.now
            self.reader.connect()

    def _leave(self) -> None:
        if self._answer is not None:
            self.kubelet.answers.remove(self._answer)
        self._answer = None
        self._again = self.kubelet.now + self.chance.choice([0, 0.5, 3, 12])
