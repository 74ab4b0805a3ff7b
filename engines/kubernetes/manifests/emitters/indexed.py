"""A gang of equal pods without an operator: one Indexed Job."""

from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import PLAIN_JOB, JobKind
from engines.kubernetes.labels import COMPLETION_INDEX
from engines.kubernetes.manifests.emitters.base import Complaint, Emitter, Place
from engines.kubernetes.manifests.emitters.plain import (
    WITHOUT_PYTORCHJOB,
    explain_gang,
    gang_annotations,
    gang_complaints,
    has_no_operator,
    restart_policy,
    restarts,
    why_no_rendezvous,
)
from engines.kubernetes.manifests.pod.env import Variable, field_variable
from engines.kubernetes.manifests.pod.rendezvous import (
    NamedRanks,
    hosts_service,
    rank_values,
    with_variables,
)
from engines.kubernetes.manifests.pod.template import pod_template
from engines.kubernetes.names import job_name
from spec.workload import JobForm, Pod, Role

#: Variables that differ from pod to pod: the index of a pod is its rank.
RANKS = ("RANK", "PET_NODE_RANK")
#: The Job is done when its first pod is, the master, whatever the others still do.
MASTER_DECIDES = {"rules": [{"succeededIndexes": "0"}]}


class IndexedEmitter(Emitter):
    """Workers, and a master that is like them. The cluster numbers the pods, ends them together,
    and fails the Job with a pod that fails for good."""

    form = JobForm.INDEXED

    def fits(self, launch: Launch) -> bool:
        return has_no_operator(launch) and not self.why_not(launch)

    def why_not(self, launch: Launch) -> str:
        spec = launch.spec
        if spec.roles:
            return "one Job runs equal pods, and roles differ"
        if spec.master is not None:
            return "one Job runs equal pods, and the master has a setup of its own"
        return why_no_rendezvous(spec)

    def kind(self, launch: Launch) -> JobKind:
        return PLAIN_JOB

    def explain(self, launch: Launch) -> str:
        return explain_gang(launch, "an Indexed Job of Kubernetes", WITHOUT_PYTORCHJOB)

    def job_spec(self, launch: Launch, place: Place) -> Manifest:
        spec = launch.spec
        made = pod_template(launch, PLAIN_JOB, spec.worker, Role.WORKER, place.images, place.marks)
        made["spec"]["subdomain"] = job_name(launch.handle)
        template = with_variables(made, _variables(launch))
        policy = restart_policy(spec, spec.worker.restart_policy)
        return {
            "completionMode": "Indexed",
            "parallelism": spec.num_pods,
            "completions": spec.num_pods,
            **({"successPolicy": MASTER_DECIDES} if spec.has_master else {}),
            **restarts(spec, policy, template),
        }

    def annotations(self, launch: Launch) -> dict[str, str]:
        return gang_annotations(launch)

    def companions(self, launch: Launch, place: Place) -> list[Manifest]:
        return [hosts_service(launch, place.space)]

    def pod_selector(self, launch: Launch, pod: Pod) -> dict[str, str]:
        return {COMPLETION_INDEX: str(pod.rank)}

    def complaints(self, launch: Launch) -> Iterator[Complaint]:
        yield from gang_complaints(launch)


def _variables(launch: Launch) -> list[Variable]:
    job = job_name(launch.handle)
    pods = launch.spec.pods
    # The cluster names the pods of an Indexed Job by their index.
    gang = NamedRanks(launch, pods, tuple(f"{job}-{pod.rank}.{job}" for pod in pods))
    values = rank_values(gang, pods[0])
    variables: list[Variable] = [
        {"name": name, "value": value} for name, value in values.items() if name not in RANKS
    ]
    index = f"metadata.labels['{COMPLETION_INDEX}']"
    return variables + [field_variable(name, index) for name in RANKS if name in values]
