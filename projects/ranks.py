"""The ranks of projects. They are priority classes, like those of workloads in a project."""

from core.database.choices import Choices
from spec.parts.scheduling import PriorityClass

RANKS = tuple((rank.value, rank.label) for rank in PriorityClass)


def ranks() -> Choices:
    return list(RANKS)
