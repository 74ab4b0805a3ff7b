"""What this engine cannot honour, and says so instead of leaving it out."""

from collections.abc import Iterator

from engines.base import EngineRefused, Launch
from engines.kubernetes.kinds import KINDS, Kind
from spec.environment import Seccomp, UidGidSource
from spec.workload import Replica

Complaint = tuple[str, str]  # field below the replica, message

PORTION = (
    "a part of a GPU is shared out by the KAI scheduler, which Trainyard does not drive yet; "
    "ask for whole GPUs"
)


def kind_of(launch: Launch) -> Kind:
    """The job that the spec becomes. ``EngineRefused`` for the first thing that cannot be had."""
    spec = launch.spec
    kind = KINDS.get(spec.distributed_framework)
    if kind is None:
        message = f"{spec.distributed_framework.label} does not run on Kubernetes clusters yet."
        raise EngineRefused(f"distributedFramework: {message}", field="distributedFramework")
    if not spec.has_master and not kind.workers_only:
        raise EngineRefused(
            f"architecture: a {kind.name} needs a master; choose Workers & master.",
            field="architecture",
        )
    for prefix, replica in (("worker", spec.worker), ("master", spec.master)):
        for field, message in _complaints(replica) if replica else ():
            path = f"{prefix}.{field}"
            raise EngineRefused(f"{path}: {message}.", field=path)
    return kind


def _complaints(replica: Replica) -> Iterator[Complaint]:
    if replica.compute.gpu_request_type:
        yield "compute.gpuRequestType", PORTION
    if replica.security.uid_gid_source is UidGidSource.IDP_TOKEN:
        yield "security.uidGidSource", "the identity provider gives no user and group ids yet"
    if replica.security.seccomp_profile_type is Seccomp.LOCALHOST:
        yield "security.seccompProfileType", "a profile of the node needs a path; choose another"
    if replica.connections:
        yield "connections", "tools are not opened on Kubernetes clusters yet; leave them out"
