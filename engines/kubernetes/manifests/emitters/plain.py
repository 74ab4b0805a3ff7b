"""What Jobs of Kubernetes have in common, whatever the number of their pods."""

from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import WITHOUT_OPERATOR
from engines.kubernetes.labels import ROLES
from engines.kubernetes.manifests.emitters.base import Complaint
from engines.kubernetes.manifests.pod import scheduling
from engines.kubernetes.ranks import describe_roles
from engines.shared.unsupported import LEAVE_OUT
from spec.workload import CleanPodPolicy, RestartPolicy, WorkloadSpec

#: A pod that was evicted, drained or preempted does not count as a failure.
GIVING_WAY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
}
WITHOUT_PYTORCHJOB = "because the cluster has no PyTorchJob"
MIN_MEMBER = "kai.scheduler/batch-min-member"
KAI_GANGS = (
    "KAI starts its pods together since its release 0.15, and each on its own before: then pods "
    "that wait for others too long give their nodes back"
)


def restarts(spec: WorkloadSpec, policy: str, template: Manifest) -> Manifest:
    """The fields of a Job that say how its pods are started again, and the pods themselves. The
    server allows a pod failure policy only if the container never restarts in its pod."""
    never = policy == RestartPolicy.NEVER
    return {
        "backoffLimit": spec.backoff_limit,
        **({"podFailurePolicy": GIVING_WAY} if never else {}),
        "template": template | {"spec": {"restartPolicy": policy, **template["spec"]}},
    }


def restart_policy(spec: WorkloadSpec, asked: RestartPolicy | None) -> str:
    """The restart policy of a pod that completes. A new pod replaces one that failed, because
    evictions count as restarts otherwise."""
    if not spec.backoff_limit:
        return str(RestartPolicy.NEVER)
    return str(asked or RestartPolicy.NEVER)


def gang_annotations(launch: Launch) -> dict[str, str]:
    """The roles of a gang, and for KAI how many of its pods have to start together. KAI reads that
    from the Job that owns all others, since its release 0.15. It would also end a gang that goes on
    without a rank that failed, so such a gang does not tell it."""
    spec = launch.spec
    notes = {ROLES: describe_roles(spec.gang_roles)}
    if scheduling.has_kai(launch) and not spec.ignore_non_lead_status:
        notes[MIN_MEMBER] = str(spec.num_pods)
    return notes


def has_no_operator(launch: Launch) -> bool:
    """Whether the cluster has no operator for the framework, which does without."""
    return launch.spec.distributed_framework in launch.site.plain_frameworks


def why_no_rendezvous(spec: WorkloadSpec) -> str:
    """Why the ranks of a master and workers cannot meet without an operator; empty if they can."""
    framework = spec.distributed_framework
    if framework is None or framework in WITHOUT_OPERATOR:
        return ""
    return f"ranks of {framework.label} meet by what their operator tells them"


def explain_gang(launch: Launch, what: str, why: str) -> str:
    """What runs the gang and why, and what starts its pods together."""
    if launch.spec.job_form:
        why = "as it was asked for"
    if scheduling.has_kai(launch):
        return f"{what}, {why}; {KAI_GANGS}"
    return f"{what}, {why}"


def gang_complaints(launch: Launch) -> Iterator[Complaint]:
    """Yield what a gang without an operator cannot have."""
    spec = launch.spec
    if spec.is_elastic:
        field = "minReplicas" if spec.min_replicas is not None else "maxReplicas"
        yield field, f"elastic workers need Kubeflow's training operator{LEAVE_OUT}"
    if spec.clean_pod_policy in {CleanPodPolicy.NONE, CleanPodPolicy.ALL}:
        text = "without an operator, pods that still run at the end are removed, and others kept"
        yield "cleanPodPolicy", f"{text}{LEAVE_OUT}"
    if spec.topology:
        text = "without Kubeflow's training operator, KAI places each pod on its own"
        yield "topology", f"{text}{LEAVE_OUT}"
