"""Gangs that an operator of Kubeflow runs."""

from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import KINDS, MPI, PYTORCH, TENSORFLOW, JobKind
from engines.kubernetes.labels import JOB_ROLE, REPLICA_INDEX, REPLICA_TYPE
from engines.kubernetes.manifests.emitters.base import Complaint, Emitter, Place
from engines.kubernetes.manifests.pod.env import processes
from engines.kubernetes.manifests.pod.template import pod_template
from spec.workload import CleanPodPolicy, JobForm, Pod, Replica, RestartPolicy, Role, WorkloadSpec


class OperatorEmitter(Emitter):
    """A master and workers, in the kind of job that their framework has."""

    form = JobForm.OPERATOR

    def fits(self, launch: Launch) -> bool:
        return launch.spec.kind.is_gang and not launch.spec.roles

    def why_not(self, launch: Launch) -> str:
        if launch.spec.roles:
            return "no operator runs named roles"
        if launch.spec.distributed_framework in launch.site.plain_frameworks:
            return f"the cluster has no {self.kind(launch).name}"
        return ""

    def kind(self, launch: Launch) -> JobKind:
        framework = launch.spec.distributed_framework
        assert framework  # noqa: S101 -- the spec requires it of a master and workers
        return KINDS[framework]

    def explain(self, launch: Launch) -> str:
        kind = self.kind(launch)
        return f"a {kind.name} of the {kind.operator}"

    def job_spec(self, launch: Launch, place: Place) -> Manifest:
        spec = launch.spec
        kind = self.kind(launch)
        roles = {kind.worker: replica(launch, kind, Role.WORKER, place)}
        if spec.has_master:
            roles = {kind.master: replica(launch, kind, Role.MASTER, place), **roles}
        return {
            "runPolicy": run_policy(spec, kind),
            **fields_of_kind(spec, kind),
            kind.replicas: roles,
        }

    def pod_selector(self, launch: Launch, pod: Pod) -> dict[str, str]:
        kind = self.kind(launch)
        role = (kind.master if pod.leads else kind.worker).lower()
        values = {JOB_ROLE if kind is MPI else REPLICA_TYPE: role}
        if not (pod.leads and kind is MPI):  # a launcher has no index
            values[REPLICA_INDEX] = str(pod.index)
        return values

    def complaints(self, launch: Launch) -> Iterator[Complaint]:
        spec = launch.spec
        kind = self.kind(launch)
        if not spec.has_master and not kind.workers_only:
            needs = kind.framework.traits.head
            yield "architecture", f"the {kind.name} needs a {needs}; choose Workers & master"
        if spec.has_master and not kind.master:
            yield "architecture", f"the {kind.name} has no master; choose Workers only"
        if spec.is_elastic and kind is PYTORCH and spec.has_master:
            field = "minReplicas" if spec.min_replicas is not None else "maxReplicas"
            yield field, "elastic workers meet without a master; choose Workers only"


def run_policy(spec: WorkloadSpec, kind: JobKind) -> Manifest:
    """The run policy. A backoff limit of 0 is left out: replicas then never restart, and the
    training operator would delete the failed pod with its exit code and output. The MPI operator
    needs it, or it tries the launcher six times."""
    policy = spec.clean_pod_policy or CleanPodPolicy.RUNNING
    limited = spec.backoff_limit or kind is MPI
    manifest: Manifest = {"cleanPodPolicy": str(policy), "suspend": False}
    return manifest | ({"backoffLimit": spec.backoff_limit} if limited else {})


def fields_of_kind(spec: WorkloadSpec, kind: JobKind) -> Manifest:
    """Fields that only one kind of job has."""
    if kind is PYTORCH:
        return {"nprocPerNode": processes(spec), **elasticity(spec)}
    if kind is MPI:
        policy = spec.mpi_launcher_creation_policy
        return {
            "slotsPerWorker": spec.slots_per_worker,
            "sshAuthMountPath": spec.ssh_auth_mount_path,
            **({"launcherCreationPolicy": str(policy)} if policy else {}),
        }
    if kind is TENSORFLOW and not spec.has_master:
        return {"successPolicy": "AllWorkers"}  # otherwise the others end when worker 0 does
    return {}


def elasticity(spec: WorkloadSpec) -> Manifest:
    """The elastic policy: torchrun runs with any number of workers between the two bounds."""
    if not spec.is_elastic:
        return {}
    policy = {
        "minReplicas": spec.min_replicas or spec.num_workers,
        "maxReplicas": spec.max_replicas or spec.num_workers,
        "maxRestarts": spec.backoff_limit,
        "rdzvBackend": "c10d",
    }
    return {"elasticPolicy": policy}


def replica(launch: Launch, kind: JobKind, role: Role, place: Place) -> Manifest:
    """The operator's description of a role."""
    spec = launch.spec
    source = (spec.master_replica if role is Role.MASTER else None) or spec.worker
    return {
        "replicas": 1 if role is Role.MASTER else spec.num_workers,
        "restartPolicy": restart_policy(spec, kind, source, role),
        "template": pod_template(launch, kind, source, role, place.images, place.marks),
    }


def restart_policy(spec: WorkloadSpec, kind: JobKind, source: Replica, role: Role) -> str:
    """The restart policy of a replica. ``OnFailure`` restarts a container after any exit code, up
    to the job's backoff limit; the operator's ``ExitCode`` would treat a plain ``exit 1`` as
    permanent. MPI workers only wait for the launcher, whose restarts alone are counted."""
    if not spec.backoff_limit or (kind is MPI and role is Role.WORKER):
        return str(RestartPolicy.NEVER)
    return str(source.restart_policy or RestartPolicy.ON_FAILURE)
