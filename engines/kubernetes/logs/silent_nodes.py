"""Remember nodes that do not return logs, and when to ask each again."""

import time
from dataclasses import dataclass, field

PAUSE_SECONDS = (2.0, 60.0)  # until a node that failed is asked again: at first, and at most


@dataclass
class SilentNodes:
    """Callers hold the lock of the log streams.

    ``_pauses`` has, for each node that failed, the end of its pause, its failures in a row, and the
    reason. ``_answered`` are nodes that have returned a log before.
    """

    _pauses: dict[str, tuple[float, int, str]] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def reason(self, node: str) -> str:
        """Return why the node is not asked at the moment; empty if it may be asked."""
        end, _, reason = self._pauses.get(node, (0.0, 0, ""))
        return reason if end > time.monotonic() else ""

    def has_failed(self, node: str) -> bool:
        """Return whether the last request to the node failed."""
        return node in self._pauses

    def record_failure(self, node: str, reason: str) -> None:
        """Pause the node. The pause grows with each failure in a row."""
        failures = self._pauses.get(node, (0.0, 0, ""))[1]
        first, longest = PAUSE_SECONDS
        pause = min(first * 2 ** min(failures, 8), longest)
        self._pauses[node] = (time.monotonic() + pause, failures + 1, reason)

    def record_answer(self, node: str) -> None:
        self._answered.add(node)
        self._pauses.pop(node, None)

    def end_pause(self, node: str) -> bool:
        """End the pause of a node that has returned logs before, because it reported the end of a
        container and is therefore up. Return whether it was paused."""
        was_paused = node in self._answered and node in self._pauses
        if was_paused:
            del self._pauses[node]
        return was_paused
