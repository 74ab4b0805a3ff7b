"""A table with a third row."""

import pytest

from clusters import connections
from clusters.kinds import KINDS
from tests.clusters.kinds.abacus import House


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    found = House()
    monkeypatch.setitem(KINDS, "abacus", found.kind())
    connections.forget()
    return found
