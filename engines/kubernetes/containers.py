"""A replica's container: variables, resources and rights. Pure functions from spec to manifest."""

import shlex

from engines.base import Launch, Manifest
from engines.kubernetes.kinds import GPU, PYTORCH, REPLICA_INDEX, Kind, job_name
from spec.compute import Compute
from spec.environment import EnvironmentVariable, Security
from spec.workload import Replica

HOME = "/home/trainyard"
SHM = "/dev/shm"  # noqa: S108 -- where programs look for shared memory
Variable = dict[str, object]


def container(launch: Launch, kind: Kind, replica: Replica) -> Manifest:
    made: Manifest = {
        "name": kind.container,
        "image": replica.image,
        "imagePullPolicy": str(replica.image_pull_policy),
        "command": shlex.split(replica.command or ""),
        "args": shlex.split(replica.args or ""),
        "workingDir": replica.working_dir,
        "env": variables(launch, kind, replica),
        "resources": resources(replica.compute),
        "securityContext": container_security(replica.security),
        "volumeMounts": mounts(replica),
        "stdin": replica.stdin or None,
        "tty": replica.tty or None,
    }
    return without_empty(made)


def variables(launch: Launch, kind: Kind, replica: Replica) -> list[Variable]:
    """The platform's, and the user's over them. The operator adds its own, which win."""
    made: dict[str, Variable] = {
        name: {"name": name, "value": value} for name, value in _platform(launch, replica).items()
    }
    made["NODE_NAME"] = _field("NODE_NAME", "spec.nodeName")
    made["POD_NAME"] = _field("POD_NAME", "metadata.name")
    made |= {variable.name: _given(variable) for variable in replica.environment_variables}
    if kind is PYTORCH and not launch.spec.has_master:
        made |= {str(variable["name"]): variable for variable in rendezvous(launch)}
    return list(made.values())


def _platform(launch: Launch, replica: Replica) -> dict[str, str]:
    handle = launch.handle
    found = {
        "RUNAI_PROJECT": handle.project,
        "RUNAI_JOB_NAME": handle.name,
        "RUNAI_JOB_UUID": str(handle.workload_id),
        "RUNAI_NUM_OF_GPUS": f"{replica.compute.gpus():g}",
        "JOB_NAME": handle.name,
        "JOB_UUID": str(handle.workload_id),
    }
    return found | ({"HOME": HOME} if replica.create_home_dir else {})


def rendezvous(launch: Launch) -> list[Variable]:
    """What the operator tells only the ranks of a job with a master: worker 0 stands in for it.

    ``env://`` for plain programs, ``PET_*`` so that a bare ``torchrun program.py`` joins too.
    """
    known = {
        "MASTER_ADDR": f"{job_name(launch.handle)}-worker-0",
        "MASTER_PORT": str(PYTORCH.port),
        "WORLD_SIZE": str(launch.spec.num_workers),
    }
    known |= {"PET_MASTER_ADDR": known["MASTER_ADDR"], "PET_MASTER_PORT": known["MASTER_PORT"]}
    index = f"metadata.labels['{REPLICA_INDEX}']"
    made: list[Variable] = [{"name": name, "value": value} for name, value in known.items()]
    return [*made, _field("RANK", index), _field("PET_NODE_RANK", index)]


def _field(name: str, path: str) -> Variable:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _given(variable: EnvironmentVariable) -> Variable:
    name = variable.name
    if variable.pod_field_ref:
        return _field(name, variable.pod_field_ref.path)
    for source, key in (
        ("secretKeyRef", variable.secret),
        ("configMapKeyRef", variable.config_map),
    ):
        if key:
            return {"name": name, "valueFrom": {source: {"name": key.name, "key": key.key}}}
    return {"name": name, "value": variable.value or ""}


def resources(compute: Compute) -> Manifest:
    """Requests and limits. GPUs and extended resources cannot be overcommitted: both are equal."""
    whole = {item.resource: item.quantity for item in compute.extended_resources}
    if compute.gpu_devices_request:
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
    """``0.1`` is ``100m``: a thousandth of a core is the least that Kubernetes knows."""
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


def mounts(replica: Replica) -> list[Manifest]:
    places = [("shm", SHM)] if replica.compute.large_shm_request else []
    places += [("home", HOME)] if replica.create_home_dir else []
    return [{"name": name, "mountPath": path} for name, path in places]


def volumes(replica: Replica) -> list[Manifest]:
    made: list[Manifest] = []
    if replica.compute.large_shm_request:
        made.append({"name": "shm", "emptyDir": {"medium": "Memory"}})
    if replica.create_home_dir:
        made.append({"name": "home", "emptyDir": {}})
    return made


def without_empty(document: Manifest) -> Manifest:
    """Without what says nothing. A false and a zero are statements, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
