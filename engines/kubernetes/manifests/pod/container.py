"""Build a replica's container: resources, security and probes. Pure."""

import shlex

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import GPU, MPI, JobKind
from engines.kubernetes.manifests.pod.env import variables
from engines.kubernetes.manifests.pod.stop_signal import stop_hook
from engines.kubernetes.manifests.values import without_empty
from spec.parts.compute import Compute
from spec.parts.environment import Security
from spec.parts.probes import Probe
from spec.workload import Replica, Role


def container(launch: Launch, kind: JobKind, replica: Replica, role: str) -> Manifest:
    command = _command(launch, kind, replica, role)
    manifest: Manifest = {
        "name": kind.container,
        "image": replica.image,
        "imagePullPolicy": str(replica.image_pull_policy),
        **command,
        "workingDir": replica.working_dir,
        "env": variables(launch, kind, replica, role),
        "resources": resources(replica.compute),
        "securityContext": container_security(replica.security),
        "readinessProbe": probe(replica.probes.readiness),
        "livenessProbe": probe(replica.probes.liveness),
        "startupProbe": probe(replica.probes.startup),
        "lifecycle": stop_hook(command.get("command", [])),
        "stdin": replica.stdin or None,
        "tty": replica.tty or None,
    }
    return without_empty(manifest)


def _command(launch: Launch, kind: JobKind, replica: Replica, role: str) -> Manifest:
    """The command. If MPI has one program for both roles, it is the launcher's, which starts it on
    the workers by ssh. The workers run the operator's default, sshd."""
    if kind is MPI and role == Role.WORKER and launch.spec.master is None:
        return {}
    return {"command": shlex.split(replica.command or ""), "args": shlex.split(replica.args or "")}


def probe(asked: Probe | None) -> Manifest:
    if asked is None:
        return {}
    get = asked.handler.http_get
    times = asked.model_dump(by_alias=True, exclude_none=True, exclude={"handler"})
    where = {"path": get.path, "port": get.port, "host": get.host, "scheme": str(get.scheme)}
    return {"httpGet": without_empty(where), **times}


def resources(compute: Compute) -> Manifest:
    """Requests and limits. GPUs and extended resources cannot be overcommitted, so both are equal.

    A part of a GPU is not a resource of Kubernetes: ``scheduling.gpu_share`` requests it from KAI.
    """
    whole = {item.resource: item.quantity for item in compute.extended_resources}
    if compute.gpu_devices_request and not compute.shares_gpu:
        whole[GPU] = str(compute.gpu_devices_request)
    requests = {
        "cpu": cores(compute.cpu_core_request),
        "memory": compute.cpu_memory_request,
        **whole,
    }
    limits = dict(whole)
    if compute.cpu_core_limit is not None:
        limits["cpu"] = cores(compute.cpu_core_limit)
    if compute.cpu_memory_limit is not None:
        limits["memory"] = compute.cpu_memory_limit
    return without_empty({"requests": requests, "limits": limits})


def cores(count: float) -> str:
    """CPU cores as a quantity: ``0.1`` is ``100m``. The smallest unit is a thousandth of a core."""
    return str(int(count)) if float(count).is_integer() else f"{max(round(count * 1000), 1)}m"


def container_security(security: Security) -> Manifest:
    return without_empty(
        {
            "allowPrivilegeEscalation": security.allow_privilege_escalation,
            "readOnlyRootFilesystem": security.read_only_root_filesystem,
            "capabilities": without_empty({"add": list(security.capabilities)}),
        },
    )


def pod_security(security: Security) -> Manifest:
    groups = [int(group) for group in (security.supplemental_groups or "").split(",") if group]
    profile = security.seccomp_profile_type
    return without_empty(
        {
            "runAsUser": security.run_as_uid,
            "runAsGroup": security.run_as_gid,
            "supplementalGroups": groups,
            "runAsNonRoot": security.run_as_non_root,
            "seccompProfile": {"type": str(profile)} if profile else None,
        },
    )
