"""A workload of one pod: a Job of Kubernetes."""

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import PLAIN_JOB, JobKind
from engines.kubernetes.manifests.emitters.base import Emitter
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.manifests.pod.template import pod_template
from spec.workload import RestartPolicy, Role, WorkloadSpec

#: A pod that was evicted, drained or preempted does not count as a failure.
GIVING_WAY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
}


class SingleEmitter(Emitter):
    """A standard training or a workspace. Its pod is replaced by a new one up to the backoff
    limit."""

    def fits(self, launch: Launch) -> bool:
        return not launch.spec.kind.is_gang

    def kind(self, launch: Launch) -> JobKind:
        return PLAIN_JOB

    def job_spec(self, launch: Launch, images: Images, marks: dict[str, str]) -> Manifest:
        spec = launch.spec
        template = pod_template(launch, PLAIN_JOB, spec.worker, Role.WORKER, images, marks)
        restarting = restarts(spec, restart_policy(spec), template)
        return {"parallelism": 1, "completions": 1, **restarting}


def restarts(spec: WorkloadSpec, policy: str, template: Manifest) -> Manifest:
    """The fields of a Job that say how its pods are started again, and the pods themselves. The
    server allows a pod failure policy only if the container never restarts in its pod."""
    never = policy == RestartPolicy.NEVER
    return {
        "backoffLimit": spec.backoff_limit,
        **({"podFailurePolicy": GIVING_WAY} if never else {}),
        "template": template | {"spec": {"restartPolicy": policy, **template["spec"]}},
    }


def restart_policy(spec: WorkloadSpec) -> str:
    """The restart policy of the pod. A training starts new pods, because evictions count as
    restarts otherwise. A workspace restarts in its pod, which keeps the files that somebody edited
    there."""
    if not spec.backoff_limit:
        return str(RestartPolicy.NEVER)
    completes = spec.kind.traits.completes
    default = RestartPolicy.NEVER if completes else RestartPolicy.ON_FAILURE
    return str(spec.worker.restart_policy or default)
