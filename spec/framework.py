"""Frameworks as rows: what is true of each, whatever runs it.

What an engine needs of a framework beyond this is a row of its own: ``engines/kubernetes/jobs.py``,
``engines/local/planning/environment.py``.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

NCCL = (
    "Ranks may share a GPU, but NCCL does not start when two ranks use one device: choose the "
    "gloo backend, or whole GPUs."
)


class Framework(StrEnum):
    """Wire names."""

    PYTORCH = "PyTorch"
    TENSORFLOW = "TF"
    XGBOOST = "XGBoost"
    MPI = "MPI"
    JAX = "JAX"

    @property
    def traits(self) -> "Traits":
        return TRAITS[self]

    @property
    def label(self) -> str:
        return self.traits.label


class Head(StrEnum):
    """What leads the workers."""

    MASTER = "master"  # a rank like the others, which they meet at
    LAUNCHER = "launcher"  # starts the workers and has no work of its own
    NONE = ""


@dataclass(frozen=True)
class Traits:
    """``label`` is what pages show, ``rendezvous`` by what the ranks find each other.

    A gang of a ``collective`` framework exchanges what it computes by NCCL where it has GPUs.
    ``sharing`` is the caution where its ranks may share one. ``fields`` of the spec are its own,
    by their names on the wire; what another framework gives of them is refused.
    """

    label: str
    rendezvous: str
    head: Head = Head.MASTER
    collective: bool = False
    fields: frozenset[str] = frozenset()

    @property
    def sharing(self) -> str:
        return NCCL if self.collective else ""


TRAITS: dict[Framework, Traits] = {
    Framework.PYTORCH: Traits(
        "PyTorch",
        "MASTER_ADDR and torchrun's PET_*",
        collective=True,
        fields=frozenset({"minReplicas", "maxReplicas", "processesPerPod"}),
    ),
    Framework.TENSORFLOW: Traits("TensorFlow", "TF_CONFIG"),
    Framework.XGBOOST: Traits("XG Boost", "MASTER_ADDR"),
    Framework.MPI: Traits(
        "MPI",
        "a host file and ssh",
        head=Head.LAUNCHER,
        collective=True,
        fields=frozenset({"slotsPerWorker", "sshAuthMountPath", "mpiLauncherCreationPolicy"}),
    ),
    Framework.JAX: Traits("JAX", "COORDINATOR_ADDRESS", head=Head.NONE, collective=True),
}
#: Of a workload of one pod, which meets nobody.
ALONE = Traits("No framework", "", head=Head.NONE)


@cache
def owner_of(field: str) -> Framework | None:
    """The one framework whose workloads have a field; ``None`` where all have it."""
    return next((each for each, traits in TRAITS.items() if field in traits.fields), None)
