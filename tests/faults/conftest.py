"""Fixtures for the product whose processes are killed."""

from collections.abc import Iterator

import pytest

from tests.faults.invariants import leftovers
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for


@pytest.fixture
def trainyard(running_trainyard: Trainyard) -> Trainyard:
    """The product that the browser tests share too, so it must be healthy again after each test."""
    wait_for(running_trainyard.is_up, 30, "health before the test")
    return running_trainyard


@pytest.fixture
def rest(trainyard: Trainyard) -> Iterator[Rest]:
    """A caller of REST. Afterwards, all workloads are deleted, and no process of theirs may be
    left."""
    with Rest(trainyard) as rest:
        yield rest
        rest.delete_all()
    wait_for(lambda: not leftovers(trainyard), 20, "every process to be gone")
