"""The table of frameworks: what holds for each, on any engine.

What an engine needs to know beyond this is in a table of its own: ``engines/kubernetes/jobs.py``,
``engines/local/planning/environment.py``, ``engines/slurm/script/rank/variables.py``.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

NCCL_CAUTION = (
    "Ranks may share a GPU, but NCCL does not start when two ranks use one device: choose the "
    "gloo backend, or whole GPUs."
)


class Framework(StrEnum):
    """A framework for distributed training, by its name on the wire."""

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

    MASTER = "master"  # a rank like the others, which meet there
    LAUNCHER = "launcher"  # starts the workers and has no work of its own
    NONE = ""


@dataclass(frozen=True)
class Traits:
    """Properties of a framework. ``label`` is its name on pages; ``rendezvous`` is how its ranks
    find each other.

    Ranks of a ``collective`` framework communicate by NCCL if they have GPUs. ``sharing`` is the
    caution for ranks that may share a GPU. ``fields`` are the wire names of spec fields that only
    this framework has; with other frameworks they are refused. ``has_runai_assets``: Run:ai's
    client knows the framework as that of an environment. If ``roles`` are given, these are the only
    names that roles may have.
    """

    label: str
    rendezvous: str
    head: Head = Head.MASTER
    collective: bool = False
    fields: frozenset[str] = frozenset()
    has_runai_assets: bool = True
    roles: tuple[str, ...] = ()

    @property
    def sharing(self) -> str:
        return NCCL_CAUTION if self.collective else ""


TRAITS: dict[Framework, Traits] = {
    Framework.PYTORCH: Traits(
        "PyTorch",
        "MASTER_ADDR and torchrun's PET_*",
        collective=True,
        fields=frozenset({"minReplicas", "maxReplicas", "processesPerPod"}),
    ),
    Framework.TENSORFLOW: Traits(
        "TensorFlow", "TF_CONFIG", roles=("chief", "master", "worker", "ps", "evaluator")
    ),
    Framework.XGBOOST: Traits("XG Boost", "MASTER_ADDR"),
    Framework.MPI: Traits(
        "MPI",
        "a host file and ssh",
        head=Head.LAUNCHER,
        collective=True,
        fields=frozenset({"slotsPerWorker", "sshAuthMountPath", "mpiLauncherCreationPolicy"}),
    ),
    Framework.JAX: Traits(
        "JAX",
        "COORDINATOR_ADDRESS",
        head=Head.NONE,
        collective=True,
        has_runai_assets=False,
    ),
}
#: For a workload of a single pod.
NO_FRAMEWORK = Traits("No framework", "", head=Head.NONE)


@cache
def framework_with(field: str) -> Framework | None:
    """The only framework that has a field; ``None`` if all have it."""
    return next((each for each, traits in TRAITS.items() if field in traits.fields), None)
