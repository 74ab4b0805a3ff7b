"""A workload of one pod: a Job of Kubernetes."""

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import PLAIN_JOB, JobKind
from engines.kubernetes.manifests.emitters.base import Emitter, Place
from engines.kubernetes.manifests.emitters.plain import restart_policy, restarts
from engines.kubernetes.manifests.pod.template import pod_template
from spec.workload import Pod, RestartPolicy, Role, WorkloadSpec


class SingleEmitter(Emitter):
    """A standard training or a workspace. Its pod is replaced by a new one up to the backoff
    limit."""

    def fits(self, launch: Launch) -> bool:
        return not launch.spec.kind.is_gang

    def kind(self, launch: Launch) -> JobKind:
        return PLAIN_JOB

    def explain(self, launch: Launch) -> str:
        return "a Job of Kubernetes"

    def job_spec(self, launch: Launch, place: Place) -> Manifest:
        spec = launch.spec
        template = pod_template(
            launch, PLAIN_JOB, spec.worker, Role.WORKER, place.images, place.marks
        )
        return {
            "parallelism": 1,
            "completions": 1,
            **restarts(spec, _restart_policy(spec), template),
        }

    def pod_selector(self, launch: Launch, pod: Pod) -> dict[str, str]:
        return {}


def _restart_policy(spec: WorkloadSpec) -> str:
    """The restart policy of the pod. A workspace restarts in its pod, which keeps the files that
    somebody edited there."""
    asked = spec.worker.restart_policy
    if not spec.kind.traits.completes:
        asked = asked or RestartPolicy.ON_FAILURE
    return restart_policy(spec, asked)
