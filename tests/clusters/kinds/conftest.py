"""A fixture that adds a third kind to the table."""

import pytest

from clusters import connections
from clusters.kinds import KINDS
from tests.clusters.kinds.abacus import FakeAbacus


@pytest.fixture
def abacus(monkeypatch: pytest.MonkeyPatch) -> FakeAbacus:
    """The abacuses, whose kind is in the table during the test."""
    found = FakeAbacus()
    monkeypatch.setitem(KINDS, "abacus", found.kind())
    connections.forget_engines()
    return found
