"""A collector of logs that waits less than a real one."""

import pytest

from engines.kubernetes.logs import follower, source
from tests.engines.kubernetes.logs.nodes import Nodes
from tests.engines.kubernetes.logs.reading import Reading


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    monkeypatch.setattr(follower, "SETTLING_SECONDS", 0.05)
    monkeypatch.setattr(follower, "PAUSE_SECONDS", (0.05, 0.1))
    monkeypatch.setattr(source, "CATCH_UP_SECONDS", 0.3)
    return Reading(Nodes())
