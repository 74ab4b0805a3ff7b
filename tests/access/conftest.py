"""The place that the tests of access use."""

from typing import Any

import pytest

from tests.access.place import Place, build


@pytest.fixture
def place(db: None, valkey: object, sent: list[Any]) -> Place:
    return build()
