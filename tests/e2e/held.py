"""Workloads that end when a test says so."""

from collections.abc import Iterator

import pytest

from tests.product import Trainyard
from tests.rest import Rest

SOON = 20_000  # milliseconds, on a busy machine
HELD = "sh -c 'until test -e $CHECKPOINT_DIR/go; do sleep 0.1; done'"


@pytest.fixture
def rest(running_trainyard: Trainyard) -> Iterator[Rest]:
    with Rest(running_trainyard) as rest:
        yield rest
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])


def let_go(trainyard: Trainyard, workload: str) -> None:
    """The held command ends when this file appears in its checkpoint folder."""
    (trainyard.home / "engine" / "workloads" / workload / "checkpoints" / "go").touch()
