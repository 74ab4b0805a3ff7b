"""What this engine cannot honour, and says so instead of leaving it out."""

from collections.abc import Iterator

from engines.base import EngineRefused, Launch
from engines.kubernetes import tools
from engines.kubernetes.kinds import JAX, KINDS, MPI, PYTORCH, Kind
from engines.kubernetes.scheduling import has_kai, unknown_pools
from spec.environment import Seccomp, UidGidSource
from spec.scheduling import Preemptibility
from spec.workload import Replica, RestartPolicy

Complaint = tuple[str, str]  # field, message

NO_KAI = "needs the KAI scheduler, which this cluster does not have"


def kind_of(launch: Launch) -> Kind:
    """The job that the spec becomes. ``EngineRefused`` for the first thing that cannot be had."""
    spec = launch.spec
    kind = KINDS[spec.distributed_framework]
    for field, message in (*_whole(launch, kind), *tools.complaints(launch)):
        raise EngineRefused(f"{field}: {message}.", field=field)
    for prefix, replica in (("worker", spec.worker), ("master", spec.master)):
        for field, message in _complaints(replica, kai=has_kai(launch)) if replica else ():
            path = f"{prefix}.{field}"
            raise EngineRefused(f"{path}: {message}.", field=path)
    return kind


def _whole(launch: Launch, kind: Kind) -> Iterator[Complaint]:
    spec, site = launch.spec, launch.site
    if not spec.has_master and not kind.workers_only:
        needs = "launcher" if kind is MPI else "master"
        yield "architecture", f"a {kind.name} needs a {needs}; choose Workers & master"
    if spec.has_master and kind is JAX:
        yield "architecture", "a JAXJob has no master; choose Workers only"
    if spec.is_elastic and kind is PYTORCH and spec.has_master:
        field = "minReplicas" if spec.min_replicas is not None else "maxReplicas"
        yield field, "elastic workers meet without a master; choose Workers only"
    for name in unknown_pools(launch):
        known = ", ".join([*site.pools, "default"])
        yield "nodePools", f"the cluster has no node pool {name!r}; it has {known}"
    if spec.topology and not has_kai(launch):
        yield "topology", f"placement by topology {NO_KAI}; leave it out"
    if spec.preemptibility is Preemptibility.NON_PREEMPTIBLE and not has_kai(launch):
        yield "preemptibility", f"it {NO_KAI}; leave it out"
    if spec.priority_class and spec.priority_class not in site.priority_classes:
        yield (
            "priorityClass",
            f"the cluster has no PriorityClass {str(spec.priority_class)!r}; its administrator can "
            f"create it with the value {spec.priority_class.value_on_cluster}",
        )
    if spec.terminate_after_preemption:
        yield "terminateAfterPreemption", "preempted pods are started again here; leave it out"


def _complaints(replica: Replica, *, kai: bool) -> Iterator[Complaint]:
    compute = replica.compute
    if compute.shares_gpu and not kai:
        yield "compute.gpuRequestType", f"a part of a GPU {NO_KAI}; ask for whole GPUs"
    for field, limit in (
        ("gpuPortionLimit", compute.gpu_portion_limit),
        ("gpuMemoryLimit", compute.gpu_memory_limit),
    ):
        if limit is not None:
            yield f"compute.{field}", "nothing on the cluster holds a pod to it; leave it out"
    if replica.restart_policy is RestartPolicy.ALWAYS:
        yield "restartPolicy", "a rank that is started again after its success never ends"
    if replica.security.uid_gid_source is UidGidSource.IDP_TOKEN:
        yield "security.uidGidSource", "the identity provider gives no user and group ids yet"
    if replica.security.seccomp_profile_type is Seccomp.LOCALHOST:
        yield "security.seccompProfileType", "a profile of the node needs a path; choose another"
