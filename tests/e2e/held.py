"""Workloads that end when a test lets them."""

from collections.abc import Iterator

import pytest

from tests.product import Trainyard
from tests.rest import Rest

SOON = 20_000  # milliseconds, on a busy machine
HELD = "sh -c 'until test -e $CHECKPOINT_DIR/go; do sleep 0.1; done'"


@pytest.fixture
def rest(running_trainyard: Trainyard) -> Iterator[Rest]:
    """A caller of REST. All workloads are deleted afterwards."""
    with Rest(running_trainyard) as rest:
        yield rest
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])


def let_go(trainyard: Trainyard, workload: str) -> None:
    """End a workload that runs the command ``HELD``, by the file that it waits for."""
    (trainyard.home / "engine" / "workloads" / workload / "checkpoints" / "go").touch()
