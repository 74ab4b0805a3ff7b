"""Find what this engine cannot provide, so that it is refused instead of left out."""

from collections.abc import Iterator

from engines.base import Launch, Site
from engines.kubernetes.manifests import named_secrets, owned_labels, tools
from engines.kubernetes.manifests.emitters import emitter_for, form_complaints
from engines.kubernetes.manifests.pod.scheduling import has_kai, unknown_pools
from engines.shared.unsupported import LEAVE_OUT
from spec.parts.batch_script import NOT_HERE
from spec.parts.environment import Seccomp, UidGidSource
from spec.parts.scheduling import Preemptibility, PriorityClass
from spec.problems.errors import Problem, parse_path
from spec.workload import Replica, RestartPolicy

Complaint = tuple[str, str]  # place, message

NO_SETUP = (
    "a container starts by its image's own entry point, and a shell in its place would change what "
    "runs; put the lines into the image, or into a script that the command starts"
)
NO_KAI = "needs the KAI scheduler, which this cluster does not have"


def complaints(launch: Launch) -> Iterator[Problem]:
    """Everything in the spec for which it cannot be submitted, by its path."""
    yield from not_provided(launch)
    kind = emitter_for(launch).kind(launch)
    yield from owned_labels.complaints(launch.spec, kind)


def not_provided(launch: Launch) -> Iterator[Problem]:
    """Everything in the spec that cannot be provided, by its path. Without labels that are owned,
    which a workload from before they were refused runs without."""
    spec = launch.spec
    of_emitter = emitter_for(launch).complaints(launch)
    for place, message in (
        *form_complaints(launch),
        *of_emitter,
        *_job_complaints(launch),
    ):
        yield Problem(parse_path(place), message)
    yield from tools.complaints(launch)
    yield from named_secrets.complaints(launch)
    for role in spec.described_roles:
        for place, message in _replica_complaints(role.replica, kai=has_kai(launch)):
            yield Problem(parse_path(f"{role.path}.{place}"), message)


def _job_complaints(launch: Launch) -> Iterator[Complaint]:
    spec = launch.spec
    site = launch.site
    if spec.setup:
        yield "setup", NO_SETUP
    if spec.batch_script:
        yield "batchScript", NOT_HERE
    for name in unknown_pools(launch):
        pools = ", ".join([*site.pools, "default"])
        yield "nodePools", f"the cluster has no node pool {name!r}; it has {pools}"
    if spec.queue and not site.kueue:
        yield "queue", f"needs Kueue, which this cluster does not have{LEAVE_OUT}"
    if spec.topology and not has_kai(launch):
        yield "topology", f"placement by topology {NO_KAI}{LEAVE_OUT}"
    if spec.preemptibility is Preemptibility.NON_PREEMPTIBLE and not has_kai(launch):
        yield "preemptibility", f"it {NO_KAI}{LEAVE_OUT}"
    if spec.preemptibility is Preemptibility.SEMI_PREEMPTIBLE and not site.semi_preemptible:
        yield (
            "preemptibility",
            "the cluster has no scheduler that guarantees a part of a workload: that needs a "
            f"release of KAI that knows semi-preemptible{LEAVE_OUT}",
        )
    if spec.priority_class and spec.priority_class not in site.priority_classes:
        yield "priorityClass", _without_priority(spec.priority_class, site)
    if spec.terminate_after_preemption:
        yield "terminateAfterPreemption", f"preempted pods are restarted here{LEAVE_OUT}"


def _without_priority(priority: PriorityClass, site: Site) -> str:
    name = str(priority)
    value = f"{priority.value_on_cluster}. If it was just created, submit again in a few seconds"
    if set(PriorityClass) & set(site.priority_classes):
        return (
            f"the cluster has no PriorityClass {name!r}; its administrator can create it with the "
            f"value {value}"
        )
    return (
        f"the cluster has no PriorityClass from {PriorityClass.VERY_LOW} to "
        f"{PriorityClass.VERY_HIGH}; its administrator can create {name!r} with the value {value}"
    )


def _replica_complaints(replica: Replica, *, kai: bool) -> Iterator[Complaint]:
    compute = replica.compute
    if not replica.image:
        yield "image", "is required on Kubernetes, whose pods run images"
    if compute.shares_gpu and not kai:
        yield "compute.gpuRequestType", f"a fraction of a GPU {NO_KAI}; ask for whole GPUs"
    for field, limit in (
        ("gpuPortionLimit", compute.gpu_portion_limit),
        ("gpuMemoryLimit", compute.gpu_memory_limit),
    ):
        if limit is not None:
            yield f"compute.{field}", f"nothing on the cluster enforces it{LEAVE_OUT}"
    if replica.restart_policy is RestartPolicy.ALWAYS:
        yield "restartPolicy", "a rank that restarts after it succeeded never ends"
    if replica.security.uid_gid_source is UidGidSource.IDP_TOKEN:
        yield "security.uidGidSource", "user and group IDs from the IdP are not supported yet"
    if replica.security.seccomp_profile_type is Seccomp.LOCALHOST:
        yield "security.seccompProfileType", "a profile on the node needs a path; choose another"
