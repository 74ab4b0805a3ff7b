"""From a launch to the objects of the cluster. Small pure functions, held by golden files."""

from engines.base import Launch, Manifest
from engines.kubernetes.containers import container, pod_security, volumes, without_empty
from engines.kubernetes.kinds import (
    NAME,
    PROJECT,
    PYTORCH,
    RUN,
    SUBMITTED_BY,
    TENSORFLOW,
    WORKLOAD,
    Kind,
    job_name,
)
from engines.kubernetes.refusals import kind_of
from spec.workload import CleanPodPolicy, Replica, WorkloadSpec


def manifests(launch: Launch, *, prefix: str) -> list[Manifest]:
    """All objects in the order in which they are made. ``EngineRefused`` for what cannot be had."""
    kind = kind_of(launch)
    space = namespace_of(launch.handle.project, prefix)
    return [namespace(space, launch.handle.project), job(launch, kind, space)]


def namespace_of(project: str, prefix: str) -> str:
    return f"{prefix}{project}"


def namespace(name: str, project: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {PROJECT: project}},
    }


def job(launch: Launch, kind: Kind, space: str) -> Manifest:
    spec = launch.spec
    roles = {"Worker": replica(launch, kind, spec.worker, spec.num_workers)}
    if spec.master_replica:
        roles = {kind.master: replica(launch, kind, spec.master_replica, 1), **roles}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": job_name(launch.handle),
            "namespace": space,
            "labels": labels(launch),
            "annotations": annotations(launch),
        },
        "spec": {"runPolicy": run_policy(spec), **extras(spec, kind), kind.replicas: roles},
    }


def labels(launch: Launch) -> dict[str, str]:
    return {WORKLOAD: str(launch.handle.workload_id), PROJECT: launch.handle.project}


def annotations(launch: Launch) -> dict[str, str]:
    made = {RUN: str(launch.run), NAME: launch.handle.name}
    return made | ({SUBMITTED_BY: launch.submitted_by} if launch.submitted_by else {})


def run_policy(spec: WorkloadSpec) -> Manifest:
    """Without a backoff limit the replicas never restart, and the operator must not be told so:
    at a limit of 0 it deletes the very pod that failed, with its exit code and its output."""
    policy = spec.clean_pod_policy or CleanPodPolicy.RUNNING
    made: Manifest = {"cleanPodPolicy": str(policy), "suspend": False}
    return made | ({"backoffLimit": spec.backoff_limit} if spec.backoff_limit else {})


def extras(spec: WorkloadSpec, kind: Kind) -> Manifest:
    """What only one kind has."""
    if kind is PYTORCH:
        return {"nprocPerNode": processes(spec)}
    if kind is TENSORFLOW and not spec.has_master:
        return {"successPolicy": "AllWorkers"}  # else the others end when worker 0 does
    return {}


def processes(spec: WorkloadSpec) -> str:
    """For a bare torchrun: one process for each GPU. ``auto`` would start one for each CPU core
    of the node where there are no GPUs; a number above 1 would make WORLD_SIZE lie to programs
    that do not go through torchrun."""
    most = max(pod.replica.compute.gpu_devices_request for pod in spec.pods)
    return "auto" if most > 1 else "1"


def replica(launch: Launch, kind: Kind, source: Replica, count: int) -> Manifest:
    """``OnFailure`` restarts a container whatever its exit code, up to the job's backoff limit;
    the operator's own ``ExitCode`` would take a plain ``exit 1`` for permanent."""
    return {
        "replicas": count,
        "restartPolicy": "OnFailure" if launch.spec.backoff_limit else "Never",
        "template": {
            "metadata": without_empty(
                {
                    "labels": {item.name: item.value for item in source.labels} | labels(launch),
                    "annotations": {item.name: item.value for item in source.annotations},
                }
            ),
            "spec": pod(launch, kind, source),
        },
    }


def pod(launch: Launch, kind: Kind, source: Replica) -> Manifest:
    made = without_empty(
        {
            "securityContext": pod_security(source.security),
            "hostIPC": source.security.host_ipc or None,
            "hostNetwork": source.security.host_network or None,
            "volumes": volumes(source),
            "containers": [container(launch, kind, source)],
        }
    )
    return {"terminationGracePeriodSeconds": launch.spec.termination_grace_period_seconds, **made}
