"""A collector of logs that waits less than a real one."""

from math import inf

import pytest

from engines.kubernetes.logs import follower, source, streams
from tests.engines.kubernetes.logs.nodes import Nodes
from tests.engines.kubernetes.logs.reading import Reading


@pytest.fixture(autouse=True)
def played_nodes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is late where nodes are played, with a clock of their own."""
    if request.node.get_closest_marker("kubernetes") is None:
        monkeypatch.setattr(follower, "ROTATION_SECONDS", inf)
        monkeypatch.setattr(streams, "REFILL_SECONDS", 0.0)


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    monkeypatch.setattr(follower, "PAUSE_SECONDS", (0.05, 0.1))
    monkeypatch.setattr(source, "CATCH_UP_SECONDS", 0.3)
    return Reading(Nodes())
