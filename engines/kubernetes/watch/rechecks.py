"""Schedule when to judge silent workloads again: a silence that lasts is itself a cause."""

from math import inf
from uuid import UUID

# seconds after a change, and the longest pause; the pause doubles each time
FIRST_SECONDS = 16.0
LONGEST_SECONDS = 300.0


class RecheckSchedule:
    """Belongs to the thread that iterates over the watcher."""

    def __init__(self) -> None:
        self._due: dict[UUID, tuple[float, float]] = {}  # when to look, and the pause before
        self._next_due = inf  # no workload is due before this time

    def record_judgment(self, uid: UUID, *, waits: bool, now: float) -> None:
        """Note that a workload was judged. ``waits`` says whether it still does not run."""
        if not waits:
            self.reset(uid)
        elif uid not in self._due:
            self._due[uid] = now + FIRST_SECONDS, FIRST_SECONDS
            self._next_due = min(self._next_due, now + FIRST_SECONDS)

    def due_workloads(self, now: float) -> list[UUID]:
        """Return the workloads to judge again now."""
        # The watcher calls this after every change, so it mostly returns without a search.
        if now < self._next_due:
            return []
        due = [uid for uid, (at, _) in self._due.items() if at <= now]
        for uid in due:
            pause = min(self._due[uid][1] * 2, LONGEST_SECONDS)
            self._due[uid] = now + pause, pause
        self._next_due = min((at for at, _ in self._due.values()), default=inf)
        return due

    def reset(self, uid: UUID) -> None:
        """Forget the workload until it is judged again, because it has changed."""
        self._due.pop(uid, None)
