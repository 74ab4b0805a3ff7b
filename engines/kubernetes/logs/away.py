"""Nodes that do not return logs, and when to ask each again. Callers hold the lock."""

import time
from dataclasses import dataclass, field

PAUSE = (2.0, 60.0)  # seconds until a failed node is asked again: at first, and at most


@dataclass
class Away:
    """``_answered`` are nodes that have returned a log before."""

    _until: dict[str, tuple[float, int, str]] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def why(self, node: str) -> str:
        """Why the node is not asked at the moment; empty if it may be asked."""
        until, _, why = self._until.get(node, (0.0, 0, ""))
        return why if until > time.monotonic() else ""

    def has_failed(self, node: str) -> bool:
        """Whether the last request to the node failed."""
        return node in self._until

    def fails(self, node: str, why: str) -> None:
        """Note a failure. The pause grows with each failure in a row."""
        failures = self._until.get(node, (0.0, 0, ""))[1]
        pause = min(PAUSE[0] * 2 ** min(failures, 8), PAUSE[1])
        self._until[node] = (time.monotonic() + pause, failures + 1, why)

    def answers(self, node: str) -> None:
        self._answered.add(node)
        self._until.pop(node, None)

    def is_heard_of(self, node: str) -> bool:
        """The node reported that a container ended, so it is up: if it has returned logs before,
        ask it at once. ``True`` if it was paused."""
        back = node in self._answered and node in self._until
        if back:
            del self._until[node]
        return back
