"""A gang of different pods without an operator: a Job for each rank."""

from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import PLAIN_JOB, JobKind
from engines.kubernetes.labels import LEAD_ONLY, RANK
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
from engines.kubernetes.manifests.pod.container import container_security, resources
from engines.kubernetes.manifests.pod.rendezvous import (
    NamedRanks,
    hosts_service,
    rank_values,
    with_variables,
)
from engines.kubernetes.manifests.pod.template import pod_template
from engines.kubernetes.manifests.values import without_empty
from engines.kubernetes.names import job_name
from spec.workload import JobForm, Pod

#: The domain of a cluster's names, as nearly all clusters have it.
DOMAIN = "svc.cluster.local"
#: Waits until every rank has an address. Names are asked for in full, because not every nslookup
#: completes them; the first domain that a pod searches is that of its namespace.
BARRIER_SCRIPT = """\
domain=$(sed -n 's/^search \\([^ ]*\\).*/\\1/p' /etc/resolv.conf)
for host in $RANK_HOSTS; do
  until nslookup -type=a "$host.$domain." 2>/dev/null | grep -q '^Name'; do
    sleep 1
  done
done
"""
NO_OPERATOR_FOR_ROLES = "because no operator runs named roles"
NO_QUEUE = (
    "Kueue would start each rank on its own, and two gangs could each hold what the other needs; "
    "leave it out"
)


class RankJobsEmitter(Emitter):
    """Named roles, or a master with a setup of its own. Each rank is reached by a name of its own,
    which no Indexed Job gives its pods. The Job of the rank that leads is the job of the
    workload."""

    form = JobForm.PER_RANK

    def fits(self, launch: Launch) -> bool:
        spec = launch.spec
        return bool(spec.roles) or (spec.master is not None and has_no_operator(launch))

    def why_not(self, launch: Launch) -> str:
        spec = launch.spec
        if spec.roles:
            return ""
        if not spec.has_master:
            return "the Job of the master owns the others, and workers alone have none"
        return why_no_rendezvous(spec)

    def kind(self, launch: Launch) -> JobKind:
        return PLAIN_JOB

    def explain(self, launch: Launch) -> str:
        why = NO_OPERATOR_FOR_ROLES if launch.spec.roles else WITHOUT_PYTORCHJOB
        return explain_gang(launch, "a Job of Kubernetes for each rank", why)

    def job_spec(self, launch: Launch, place: Place) -> Manifest:
        gang = _gang(launch)
        return _job_spec(gang, _lead(gang.pods), place)

    def labels(self, launch: Launch) -> dict[str, str]:
        return {RANK: str(_lead(launch.spec.pods).rank)}

    def annotations(self, launch: Launch) -> dict[str, str]:
        lead_only = {LEAD_ONLY: "true"} if launch.spec.ignore_non_lead_status else {}
        return gang_annotations(launch) | lead_only

    def companions(self, launch: Launch, place: Place) -> list[Manifest]:
        gang = _gang(launch)
        followers = [_follower(gang, pod, place) for pod in gang.pods if not pod.leads]
        return [hosts_service(launch, place.space), *followers]

    def pod_selector(self, launch: Launch, pod: Pod) -> dict[str, str]:
        return {RANK: str(pod.rank)}

    def complaints(self, launch: Launch) -> Iterator[Complaint]:
        yield from gang_complaints(launch)
        if launch.spec.queue:
            yield "queue", NO_QUEUE


def _gang(launch: Launch) -> NamedRanks:
    """A role of one rank gives it its own name; the ranks of others are numbered."""
    pods = launch.spec.pods
    alone = {role.name for role in launch.spec.gang_roles if role.count == 1}
    names = (pod.role if pod.role in alone else pod.name for pod in pods)
    return NamedRanks(launch, pods, tuple(f"{name}.{job_name(launch.handle)}" for name in names))


def _lead(pods: tuple[Pod, ...]) -> Pod:
    return next(pod for pod in pods if pod.leads)


def _follower(gang: NamedRanks, pod: Pod, place: Place) -> Manifest:
    meta = {
        "name": f"{job_name(gang.launch.handle)}-rank-{pod.rank}",
        "namespace": place.space,
        "labels": place.marks | {RANK: str(pod.rank)},
    }
    return {
        "apiVersion": PLAIN_JOB.api_version,
        "kind": PLAIN_JOB.name,
        "metadata": meta,
        "spec": _job_spec(gang, pod, place),
    }


def _job_spec(gang: NamedRanks, pod: Pod, place: Place) -> Manifest:
    launch = gang.launch
    spec = launch.spec
    marks = place.marks | {RANK: str(pod.rank)}
    made = pod_template(launch, PLAIN_JOB, pod.replica, pod.role, place.images, marks)
    host, service = gang.hosts[pod.rank].split(".")
    made["spec"] |= {
        "hostname": host,
        "subdomain": service,
        # By this domain, others are found by their bare names.
        "dnsConfig": {"searches": [f"{service}.{place.space}.{DOMAIN}"]},
    }
    if spec.roles and spec.barrier:
        before = made["spec"].get("initContainers", [])
        made["spec"]["initContainers"] = [*before, _barrier(gang, pod, place)]
    values = rank_values(gang, pod)
    template = with_variables(made, ({"name": key, "value": it} for key, it in values.items()))
    policy = restart_policy(spec, pod.replica.restart_policy)
    return {"parallelism": 1, "completions": 1, **restarts(spec, policy, template)}


def _barrier(gang: NamedRanks, pod: Pod, place: Place) -> Manifest:
    """The init container that waits for the other ranks. It requests the program's CPU and memory,
    so the pod as a whole needs no more."""
    replica = pod.replica
    manifest = {
        "name": "wait-for-ranks",
        "image": place.images.shell,
        "command": ["/bin/sh", "-c", BARRIER_SCRIPT],
        "env": [{"name": "RANK_HOSTS", "value": " ".join(gang.hosts)}],
        "resources": resources(replica.compute.without_devices),
        "securityContext": container_security(replica.security),
    }
    return without_empty(manifest)
