"""Nodes that do not hand out logs, and when each is asked again. Who uses it holds the lock."""

import time
from dataclasses import dataclass, field

PAUSE = (2.0, 60.0)  # seconds until a node that did not answer is asked again: at first, at most


@dataclass
class Away:
    """``_answered`` are the nodes that ever did."""

    _until: dict[str, tuple[float, int, str]] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def why(self, node: str) -> str:
        """Why it gives no log at the moment; empty where it may be asked."""
        until, _, why = self._until.get(node, (0.0, 0, ""))
        return why if until > time.monotonic() else ""

    def has_failed(self, node: str) -> bool:
        """Whether it gave none when it was asked last."""
        return node in self._until

    def fails(self, node: str, why: str) -> None:
        """For how long depends on how often it did, in a row."""
        failures = self._until.get(node, (0.0, 0, ""))[1]
        pause = min(PAUSE[0] * 2 ** min(failures, 8), PAUSE[1])
        self._until[node] = (time.monotonic() + pause, failures + 1, why)

    def answers(self, node: str) -> None:
        self._answered.add(node)
        self._until.pop(node, None)

    def is_heard_of(self, node: str) -> bool:
        """It said that a container ended, so it runs: one that ever handed out a log is asked for
        the rest of it at once. ``True`` where it would not have been."""
        back = node in self._answered and node in self._until
        if back:
            del self._until[node]
        return back
