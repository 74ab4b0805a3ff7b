"""The order of projects whose workloads have an equal claim."""

from enum import StrEnum

from core.database.choices import Choices


class ProjectRank(StrEnum):
    """The rank of a project among those that wait, the lowest first."""

    VERY_LOW = "very-low"
    LOW = "low"
    MEDIUM_LOW = "medium-low"
    MEDIUM = "medium"
    MEDIUM_HIGH = "medium-high"
    HIGH = "high"
    VERY_HIGH = "very-high"

    @property
    def label(self) -> str:
        return self.value.replace("-", " ").capitalize()

    @property
    def place(self) -> int:
        """The higher one goes first."""
        return list(ProjectRank).index(self)


RANKS = tuple((rank.value, rank.label) for rank in ProjectRank)


def ranks() -> Choices:
    return list(RANKS)
