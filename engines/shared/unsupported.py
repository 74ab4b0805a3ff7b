"""What engines refuse when their ranks are plain processes instead of pods."""

from collections.abc import Collection, Iterator

from spec.parts.environment import ConnectionType
from spec.values.variable import EnvironmentVariable
from spec.workload import Replica, RestartPolicy, WorkloadSpec

Complaint = tuple[str, str]  # place below the replica, message
#: Types of connection that go through Trainyard and need nothing of the cluster.
REACHED = frozenset({ConnectionType.EXTERNAL_URL, ConnectionType.CLUSTER_IP})
#: What the messages about fields end with that a workload can do without.
LEAVE_OUT = "; leave it out"
ELSEWHERE = f"{LEAVE_OUT}, or choose another cluster"


def restart_complaints(replica: Replica, spec: WorkloadSpec) -> Iterator[Complaint]:
    """Yield a complaint about a restart policy for single ranks.

    Never is no such policy for a training of one pod, where a new pod replaces one that failed, and
    where the backoff limit is 0.
    """
    accepted = {None, RestartPolicy.ON_FAILURE}
    one_pod_completes = not spec.kind.is_gang and spec.kind.traits.completes
    if one_pod_completes or spec.backoff_limit == 0:
        accepted.add(RestartPolicy.NEVER)
    if replica.restart_policy not in accepted:
        text = "the ranks restart together; backoffLimit sets how often, and 0 is never"
        yield "restartPolicy", text


def probe_complaints(replica: Replica, why: str) -> Iterator[Complaint]:
    """Yield complaints about probes. ``why`` begins the sentence, such as ``Slurm has no
    probes``."""
    for name in type(replica.probes).model_fields:
        if getattr(replica.probes, name):
            yield f"probes.{name}", f"{why}; a rank is healthy while it runs"


def connection_complaints(replica: Replica, where: str) -> Iterator[Complaint]:
    """Yield complaints about connections. ``where`` ends the sentence, such as ``on Slurm``."""
    for index, connection in enumerate(replica.connections):
        kind = connection.connection_type
        if kind not in REACHED:
            yield f"connections[{index}].connectionType", f"there is no {kind} {where}"


def queue_complaints(spec: WorkloadSpec, where: str) -> Iterator[Complaint]:
    """Yield complaints about what jobs of Kubernetes have. ``where`` ends the sentence, such as
    ``on Slurm``."""
    if spec.queue:
        yield "queue", f"there is no Kueue {where}"
    if spec.job_form:
        yield "jobForm", f"gangs run in one way {where}"
    if spec.job_labels:
        yield "jobLabels", f"jobs have no labels {where}"
    if spec.job_annotations:
        yield "jobAnnotations", f"jobs have no annotations {where}"


def of_variable(
    place: str, variable: EnvironmentVariable, pod_fields: Collection[str]
) -> Iterator[Complaint]:
    """Yield complaints about a variable. ``pod_fields`` are the fields of a pod that the engine has
    a value for."""
    if variable.secret:
        text = "is in a Secret, which only Kubernetes has; take it from a credential"
        yield f"{place}.secret", f"{variable.name} {text}"
    if variable.config_map:
        yield f"{place}.configMap", f"{variable.name} is in a ConfigMap, as Kubernetes has"
    if variable.pod_field_ref and variable.pod_field_ref.path not in pod_fields:
        yield f"{place}.podFieldRef", f"it can name {', '.join(pod_fields)}"
