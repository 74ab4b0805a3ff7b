"""The product whose processes are killed."""

import pytest

from tests.product import Trainyard
from tests.waiting import wait_for


@pytest.fixture
def trainyard(running_trainyard: Trainyard) -> Trainyard:
    """The one that the browser tests share: it must be healthy again after each test."""
    wait_for(running_trainyard.is_up, 30, "health before the test")
    return running_trainyard
