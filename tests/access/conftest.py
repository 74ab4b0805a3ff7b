"""The place whose doors are tried."""

from typing import Any

import pytest

from tests.access.place import Place, build


@pytest.fixture
def place(db: None, valkey: object, sent: list[Any]) -> Place:
    return build()
