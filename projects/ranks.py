"""The rank of a project among those that wait: a priority class, as workloads have among the others
of their project."""

from core.database.choices import Choices
from spec.parts.scheduling import PriorityClass

RANKS = tuple((rank.value, rank.label) for rank in PriorityClass)


def ranks() -> Choices:
    return list(RANKS)
