"""Workloads that end when a test lets them."""

from tests.product import Trainyard

SOON = 20_000  # milliseconds, on a busy machine
HELD = "sh -c 'until test -e $CHECKPOINT_DIR/go; do sleep 0.1; done'"


def let_go(trainyard: Trainyard, workload: str) -> None:
    """End a workload that runs the command ``HELD``, by the file that it waits for."""
    (trainyard.home / "engine" / "workloads" / workload / "checkpoints" / "go").touch()
