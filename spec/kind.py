"""Kinds of workloads as rows: what is true of each, whatever runs it."""

from dataclasses import dataclass
from enum import StrEnum


class WorkloadKind(StrEnum):
    """Names in the spec."""

    DISTRIBUTED = "distributed"
    TRAINING = "training"

    @property
    def traits(self) -> "KindTraits":
        return KIND_TRAITS[self]

    @property
    def label(self) -> str:
        return self.traits.label

    @property
    def is_gang(self) -> bool:
        return self.traits.is_gang


@dataclass(frozen=True)
class KindTraits:
    """``label`` is what pages show, ``choice`` and ``text`` what its card in the wizard says;
    ``type`` and ``path`` are Run:ai's words for it in REST. ``is_gang``: several pods, which meet
    by a framework; else one pod without."""

    label: str
    choice: str
    text: str
    type: str
    path: str
    is_gang: bool = False


KIND_TRAITS: dict[WorkloadKind, KindTraits] = {
    WorkloadKind.DISTRIBUTED: KindTraits(
        "Distributed training",
        "Distributed",
        "Several pods, one training.",
        "Distributed",
        "distributed",
        is_gang=True,
    ),
    WorkloadKind.TRAINING: KindTraits(
        "Standard training", "Standard", "One pod, no framework.", "Training", "trainings"
    ),
}
#: Fields of the spec that only a gang has, by their names on the wire; a framework has its own.
GANG_FIELDS = frozenset(
    {"distributedFramework", "architecture", "numWorkers", "master", "cleanPodPolicy"}
)


def is_gang(name: str) -> bool:
    """Of a draft, whose kind may be any text: what is none counts as the default."""
    return name not in set(WorkloadKind) or WorkloadKind(name).is_gang
