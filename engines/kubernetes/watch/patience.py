"""When to look again at workloads of which nothing new is said: silence may be the cause."""

from uuid import UUID

FIRST_SECONDS, MOST_SECONDS = 16.0, 300.0  # after a change; each time twice as long as before


class Patience:
    def __init__(self) -> None:
        self._again: dict[UUID, tuple[float, float]] = {}  # when, and how long that is

    def judged(self, uid: UUID, *, waits: bool, now: float) -> None:
        """``waits`` says whether it still does not run."""
        if not waits:
            self.changed(uid)
        elif uid not in self._again:
            self._again[uid] = now + FIRST_SECONDS, FIRST_SECONDS

    def over(self, now: float) -> list[UUID]:
        """Those to look at again now."""
        due = [uid for uid, (at, _) in self._again.items() if at <= now]
        for uid in due:
            seconds = min(self._again[uid][1] * 2, MOST_SECONDS)
            self._again[uid] = now + seconds, seconds
        return due

    def changed(self, uid: UUID) -> None:
        """Something was heard of it: its silence begins anew, if it still waits."""
        self._again.pop(uid, None)
