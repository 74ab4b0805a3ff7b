"""A collector of logs that waits less than a real one."""

import pytest

from engines.kubernetes.logs import follower, starts
from tests.engines.kubernetes.logs.nodes import Nodes
from tests.engines.kubernetes.logs.reading import Reading


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    monkeypatch.setattr(follower, "SETTLING", 0.05)
    monkeypatch.setattr(follower, "PAUSE", (0.05, 0.1))
    monkeypatch.setattr(starts, "PAUSE", (0.02, 0.05))
    monkeypatch.setattr(starts, "LAG", 0.3)
    return Reading(Nodes())
