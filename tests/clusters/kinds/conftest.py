"""A fixture that adds a third kind to the table."""

import pytest

from clusters import connections
from clusters.kinds import KINDS
from tests.clusters.kinds.abacus import House


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    """The abacuses, whose kind is in the table during the test."""
    found = House()
    monkeypatch.setitem(KINDS, "abacus", found.kind())
    connections.forget_engines()
    return found
