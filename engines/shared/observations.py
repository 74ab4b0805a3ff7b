"""Compare observations of a workload."""

from dataclasses import replace

from engines.base import Observation


def is_same_state(one: Observation, other: Observation) -> bool:
    """Whether both are equal apart from their time: many changes on a cluster do not show in
    observations."""
    return replace(one, sequence=other.sequence, at=other.at) == other
