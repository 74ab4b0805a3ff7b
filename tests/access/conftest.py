"""The users and objects of the tests of access."""

from typing import Any

import pytest

from tests.access.population import Population, build


@pytest.fixture
def population(db: None, valkey: object, sent: list[Any]) -> Population:
    return build()
