"""Decide when to judge silent workloads again, because with time the silence itself is a cause."""

from uuid import UUID

FIRST_SECONDS, MOST_SECONDS = 16.0, 300.0  # after a change; the delay doubles each time


class Patience:
    def __init__(self) -> None:
        self._again: dict[UUID, tuple[float, float]] = {}  # when to look, and after how long

    def judged(self, uid: UUID, *, waits: bool, now: float) -> None:
        """Note a judgement; ``waits`` says whether the workload still does not run."""
        if not waits:
            self.changed(uid)
        elif uid not in self._again:
            self._again[uid] = now + FIRST_SECONDS, FIRST_SECONDS

    def over(self, now: float) -> list[UUID]:
        """Workloads to judge again now."""
        due = [uid for uid, (at, _) in self._again.items() if at <= now]
        for uid in due:
            seconds = min(self._again[uid][1] * 2, MOST_SECONDS)
            self._again[uid] = now + seconds, seconds
        return due

    def changed(self, uid: UUID) -> None:
        """Note a change of the workload: its silence starts over."""
        self._again.pop(uid, None)
