"""The table of kinds of workloads: what holds for each, on any engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from spec.framework import framework_with

#: Wire names of spec fields that only gangs have. Frameworks have further ones.
GANG_FIELDS = frozenset(
    {
        *("distributedFramework", "architecture", "numWorkers", "master", "cleanPodPolicy"),
        *("batchScript", "roles", "barrier", "ignoreNonLeadStatus", "jobForm"),
    }
)
GANGS = "distributed trainings"
WORKSPACES = "workspaces"
WORKSPACE_FIELDS = frozenset({"idleLimitSeconds"})


class WorkloadKind(StrEnum):
    """The kind of a workload, as specs have it."""

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
    """Properties of a kind of workload.

    ``label`` is its name on pages. ``noun`` is what its wizard creates; ``choice`` and ``text`` are
    on its card there, if the noun has several kinds. ``type`` and ``path`` are Run:ai's words in
    REST. ``is_gang``: several pods with a framework; otherwise one pod without. A kind that never
    ``completes`` is for interactive work: it runs until somebody stops it, and if its program ends
    it is stopped and can run again. ``shares`` are fields of a framework that this kind has, too.
    """

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
    def foreign_fields(self) -> Mapping[str, str]:
        """Fields that only other kinds have, with the name of these kinds."""
        gang = {} if self.is_gang else dict.fromkeys(GANG_FIELDS, GANGS)
        return gang | (dict.fromkeys(WORKSPACE_FIELDS, WORKSPACES) if self.completes else {})

    @lru_cache(1000)  # noqa: B019 -- only the three rows below, which live for ever
    def may_have(self, field: str) -> bool:
        """Whether workloads of this kind, in a gang of any framework, have a spec field."""
        owned = framework_with(field) and field not in self.shares
        return field not in self.foreign_fields and (self.is_gang or not owned)


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


def workload_kind(name: str) -> WorkloadKind:
    """The kind that a draft names. An unknown text counts as the default kind."""
    return WorkloadKind(name) if name in set(WorkloadKind) else WorkloadKind.DISTRIBUTED


def kind_traits(name: str) -> KindTraits:
    """The properties of the kind that a draft names."""
    return workload_kind(name).traits


def kinds_of_wizard(noun: str) -> list[WorkloadKind]:
    """The kinds that one wizard creates."""
    return [kind for kind in WorkloadKind if kind.traits.noun == noun]
