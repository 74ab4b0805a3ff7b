"""Whether what was seen of a workload is what was seen before."""

from dataclasses import replace

from engines.base import Observation


def says_the_same(one: Observation, other: Observation) -> bool:
    """Whenever each was made: much changes on a cluster that no observation shows."""
    return replace(one, sequence=other.sequence, at=other.at) == other
