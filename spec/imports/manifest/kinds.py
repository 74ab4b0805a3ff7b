"""The table of the kinds of Kubeflow's jobs that can be read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from spec.framework import Framework
from spec.imports.manifest.reading import Document, ManifestPart, parse_number, without_empty


def _read_nothing(spec: ManifestPart, limit: int | None) -> Document:
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
    read_fields: Callable[[ManifestPart, int | None], Document] = _read_nothing
    may_be_alone: bool = False


def _read_pytorch(spec: ManifestPart, limit: int | None) -> Document:
    policy = spec.part("elasticPolicy")
    processes = _read_processes(spec)
    number = policy.whole_number("nProcPerNode")
    if number is not None and processes.setdefault("processesPerPod", number) != number:
        policy.refuse("nProcPerNode", "must be as nprocPerNode")
    return _read_elastic_policy(policy, limit) | processes


def _read_tensorflow(spec: ManifestPart, limit: int | None) -> Document:
    spec.require_one_of("successPolicy", "AllWorkers")
    return {}


def _read_mpi(spec: ManifestPart, limit: int | None) -> Document:
    spec.require_one_of("mpiImplementation", "OpenMPI")
    return without_empty(
        {
            "slotsPerWorker": spec.whole_number("slotsPerWorker"),
            "sshAuthMountPath": spec.text("sshAuthMountPath"),
            "mpiLauncherCreationPolicy": spec.text("launcherCreationPolicy"),
        }
    )


def _read_elastic_policy(policy: ManifestPart, limit: int | None) -> Document:
    """Read an elastic policy. ``limit`` is how often the job itself may restart: a workload has one
    number for both."""
    policy.require_one_of("rdzvBackend", "c10d")
    policy.leave_out("metrics", "the number of workers does not follow metrics")
    policy.leave_out("standalone", "Trainyard says where ranks meet")
    for key in ("rdzvHost", "rdzvPort", "rdzvId", "rdzvConf"):
        policy.leave_out(key, "Trainyard says where ranks meet")
    restarts = policy.whole_number("maxRestarts")
    if None not in {limit, restarts} and restarts != limit:
        policy.refuse("maxRestarts", f"must be as runPolicy.backoffLimit, {limit}")
    bounds = {
        "minReplicas": policy.whole_number("minReplicas"),
        "maxReplicas": policy.whole_number("maxReplicas"),
    }
    return without_empty(bounds | {"backoffLimit": restarts})


def _read_processes(spec: ManifestPart) -> Document:
    """Read the number of processes. ``auto`` and ``gpu`` are what Trainyard does without a
    number."""
    number = spec.text("nprocPerNode")
    if (processes := parse_number(number)) is not None:
        return {"processesPerPod": processes}
    if number not in {"", "auto", "gpu"}:
        spec.refuse("nprocPerNode", f"{number!r} is not auto, gpu or a number")
    return {}


KINDS: Mapping[str, ImportedKind] = MappingProxyType(
    {
        "PyTorchJob": ImportedKind(
            Framework.PYTORCH, "pytorchReplicaSpecs", read_fields=_read_pytorch, may_be_alone=True
        ),
        "TFJob": ImportedKind(
            Framework.TENSORFLOW,
            "tfReplicaSpecs",
            ("Chief", "Master"),
            read_fields=_read_tensorflow,
        ),
        "XGBoostJob": ImportedKind(Framework.XGBOOST, "xgbReplicaSpecs"),
        "JAXJob": ImportedKind(Framework.JAX, "jaxReplicaSpecs", ()),
        "MPIJob": ImportedKind(
            Framework.MPI,
            "mpiReplicaSpecs",
            ("Launcher",),
            ("kubeflow.org/v2beta1", "kubeflow.org/v1"),
            _read_mpi,
        ),
    }
)
