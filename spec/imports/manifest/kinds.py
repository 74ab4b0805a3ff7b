"""The table of the kinds of Kubeflow's jobs that can be read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from spec.framework import Framework
from spec.imports.manifest.reading import Document, ManifestPart, filled, number_in


def _nothing(spec: ManifestPart, limit: int | None) -> Document:
    return {}


@dataclass(frozen=True)
class ImportedKind:
    """A kind of job: where its replicas are, and the names of its ``head``; empty if it has none.

    ``own`` reads what only jobs of its framework have, and gets how often the job may restart. One
    that ``may_be_alone`` is a standard training if it has only a head.
    """

    framework: Framework
    replicas: str
    head: tuple[str, ...] = ("Master",)
    versions: tuple[str, ...] = ("kubeflow.org/v1",)
    own: Callable[[ManifestPart, int | None], Document] = _nothing
    may_be_alone: bool = False


def _of_pytorch(spec: ManifestPart, limit: int | None) -> Document:
    return _elastic(spec.part("elasticPolicy"), limit) | _processes(spec)


def _of_tensorflow(spec: ManifestPart, limit: int | None) -> Document:
    spec.one_of("successPolicy", "AllWorkers")
    return {}


def _of_mpi(spec: ManifestPart, limit: int | None) -> Document:
    spec.one_of("mpiImplementation", "OpenMPI")
    return filled(
        {
            "slotsPerWorker": spec.whole("slotsPerWorker"),
            "sshAuthMountPath": spec.text("sshAuthMountPath"),
            "mpiLauncherCreationPolicy": spec.text("launcherCreationPolicy"),
        }
    )


def _elastic(policy: ManifestPart, limit: int | None) -> Document:
    """Read an elastic policy. ``limit`` is how often the job itself may restart: a workload has one
    number for both."""
    policy.one_of("rdzvBackend", "c10d")
    restarts = policy.whole("maxRestarts")
    if None not in {limit, restarts} and restarts != limit:
        policy.refuse("maxRestarts", f"must be as runPolicy.backoffLimit, {limit}")
    bounds = {
        "minReplicas": policy.whole("minReplicas"),
        "maxReplicas": policy.whole("maxReplicas"),
    }
    return filled(bounds | {"backoffLimit": restarts})


def _processes(spec: ManifestPart) -> Document:
    """Read the number of processes. ``auto`` and ``gpu`` are what Trainyard does without a
    number."""
    number = spec.text("nprocPerNode")
    if (processes := number_in(number)) is not None:
        return {"processesPerPod": processes}
    if number not in {"", "auto", "gpu"}:
        spec.refuse("nprocPerNode", f"{number!r} is not auto, gpu or a number")
    return {}


KINDS: Mapping[str, ImportedKind] = MappingProxyType(
    {
        "PyTorchJob": ImportedKind(
            Framework.PYTORCH, "pytorchReplicaSpecs", own=_of_pytorch, may_be_alone=True
        ),
        "TFJob": ImportedKind(
            Framework.TENSORFLOW, "tfReplicaSpecs", ("Chief", "Master"), own=_of_tensorflow
        ),
        "XGBoostJob": ImportedKind(Framework.XGBOOST, "xgbReplicaSpecs"),
        "JAXJob": ImportedKind(Framework.JAX, "jaxReplicaSpecs", ()),
        "MPIJob": ImportedKind(
            Framework.MPI,
            "mpiReplicaSpecs",
            ("Launcher",),
            ("kubeflow.org/v2beta1", "kubeflow.org/v1"),
            _of_mpi,
        ),
    }
)
