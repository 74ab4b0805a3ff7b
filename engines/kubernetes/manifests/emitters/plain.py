"""What Jobs of Kubernetes have in common, whatever the number of their pods."""

from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.manifests.emitters.base import Complaint
from engines.shared.unsupported import LEAVE_OUT
from spec.workload import CleanPodPolicy, RestartPolicy, WorkloadSpec

#: A pod that was evicted, drained or preempted does not count as a failure.
GIVING_WAY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
}


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
