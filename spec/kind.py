"""Kinds of workloads as rows: what is true of each, whatever runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from spec.framework import owner_of

#: Fields of the spec that only a gang has, by their names on the wire; a framework has its own.
GANG_FIELDS = frozenset(
    {
        *("distributedFramework", "architecture", "numWorkers", "master", "cleanPodPolicy"),
        "batchScript",
    }
)
GANGS, WORKSPACES = "distributed trainings", "workspaces"
WORKSPACE_FIELDS = frozenset({"idleLimitSeconds"})


class WorkloadKind(StrEnum):
    """Names in the spec."""

    DISTRIBUTED = "distributed"
    TRAINING = "training"
    WORKSPACE = "workspace"

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
    """``label`` is what pages show, ``noun`` what a person makes by a wizard of its own; ``choice``
    and ``text`` are what its card there says, where the noun has several kinds. ``type`` and
    ``path`` are Run:ai's words for it in REST. ``is_gang``: several pods, which meet by a
    framework; else one pod without. One that never ``completes`` is there to be worked in: it
    is over when somebody stops it, and where its program ends it is stopped, to be run again.
    ``shares`` are fields of a framework that it has without one."""

    label: str
    noun: str
    choice: str
    text: str
    type: str
    path: str
    is_gang: bool = False
    completes: bool = True
    shares: frozenset[str] = frozenset()

    @property
    def lacks(self) -> Mapping[str, str]:
        """The fields of the spec that only other kinds have, and which kinds these are."""
        gang = {} if self.is_gang else dict.fromkeys(GANG_FIELDS, GANGS)
        return gang | (dict.fromkeys(WORKSPACE_FIELDS, WORKSPACES) if self.completes else {})

    @lru_cache(1000)  # noqa: B019 -- of the three rows below, which stay
    def may_have(self, field: str) -> bool:
        """Whether a workload of this kind has a field of the spec, of a gang by some framework."""
        owned = owner_of(field) and field not in self.shares
        return field not in self.lacks and (self.is_gang or not owned)


KIND_TRAITS: dict[WorkloadKind, KindTraits] = {
    WorkloadKind.DISTRIBUTED: KindTraits(
        "Distributed training",
        "training",
        "Distributed",
        "Several pods, one training.",
        "Distributed",
        "distributed",
        is_gang=True,
    ),
    WorkloadKind.TRAINING: KindTraits(
        "Standard training",
        "training",
        "Standard",
        "One pod, no framework.",
        "Training",
        "trainings",
        shares=frozenset({"processesPerPod"}),
    ),
    WorkloadKind.WORKSPACE: KindTraits(
        "Workspace",
        "workspace",
        "Workspace",
        "One pod to work in, until it is stopped.",
        "Workspace",
        "workspaces",
        completes=False,
    ),
}


def traits_of(name: str) -> KindTraits:
    """Of a draft, whose kind may be any text: what is none counts as the default."""
    kind = WorkloadKind(name) if name in set(WorkloadKind) else WorkloadKind.DISTRIBUTED
    return kind.traits


def kinds_of(noun: str) -> list[WorkloadKind]:
    """Those that are made by the same wizard."""
    return [kind for kind in WorkloadKind if kind.traits.noun == noun]
