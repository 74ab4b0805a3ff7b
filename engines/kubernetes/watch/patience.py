"""Decide when to judge silent workloads again, because with time the silence itself is a cause."""

from math import inf
from uuid import UUID

# after a change; the delay doubles each time
FIRST_SECONDS = 16.0
MOST_SECONDS = 300.0


class Patience:
    def __init__(self) -> None:
        self._again: dict[UUID, tuple[float, float]] = {}  # when to look, and after how long
        self._next = inf  # nothing is due before

    def judged(self, uid: UUID, *, waits: bool, now: float) -> None:
        """Note a judgement; ``waits`` says whether the workload still does not run."""
        if not waits:
            self.changed(uid)
        elif uid not in self._again:
            self._again[uid] = now + FIRST_SECONDS, FIRST_SECONDS
            self._next = min(self._next, now + FIRST_SECONDS)

    def over(self, now: float) -> list[UUID]:
        """Workloads to judge again now. Called after every change of any, so it seldom looks."""
        if now < self._next:
            return []
        due = [uid for uid, (at, _) in self._again.items() if at <= now]
        for uid in due:
            seconds = min(self._again[uid][1] * 2, MOST_SECONDS)
            self._again[uid] = now + seconds, seconds
        self._next = min((at for at, _ in self._again.values()), default=inf)
        return due

    def changed(self, uid: UUID) -> None:
        """Note a change of the workload: its silence starts over."""
        self._again.pop(uid, None)
