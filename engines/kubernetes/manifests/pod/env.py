"""Build a container's environment variables, and the Secret with those that nobody should read."""

from base64 import b64encode
from collections.abc import Iterator

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import MPI, PYTORCH, JobKind
from engines.kubernetes.labels import REPLICA_INDEX, labels
from engines.kubernetes.manifests.pod import access
from engines.kubernetes.manifests.values import own_roles, source_role
from engines.kubernetes.names import job_name, secret_name
from spec.values.variable import EnvironmentVariable, looks_secret
from spec.workload import Replica, WorkloadSpec

HOME = "/home/trainyard"
LONGEST_KEY = 253
Variable = dict[str, object]


def variables(launch: Launch, kind: JobKind, replica: Replica, role: str) -> list[Variable]:
    """Trainyard's variables, overridden by the user's. The operator adds its own, which win."""
    platform = _platform_values(launch, kind, replica)
    by_name: dict[str, Variable] = {
        name: {"name": name, "value": value} for name, value in platform.items()
    }
    by_name["NODE_NAME"] = field_variable("NODE_NAME", "spec.nodeName")
    by_name["POD_NAME"] = field_variable("POD_NAME", "metadata.name")
    for number, variable in enumerate(replica.environment_variables):
        key = _key(source_role(launch, role), number, variable)
        by_name[variable.name] = _user_variable(variable, secret_name(launch), key)
    if kind is PYTORCH and not launch.spec.has_master and not launch.spec.is_elastic:
        by_name |= {str(variable["name"]): variable for variable in rendezvous(launch)}
    return list(by_name.values())


def secret(launch: Launch, space: str) -> Manifest | None:
    """The workload's Secret with values of credentials and those that look secret; ``None`` if
    there are none."""
    data = {key: b64encode(value.encode()).decode() for key, value in _secret_values(launch)}
    if not data:
        return None
    meta = {"name": secret_name(launch), "namespace": space, "labels": labels(launch)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}


def _secret_values(launch: Launch) -> Iterator[tuple[str, str]]:
    for role in own_roles(launch.spec):
        for number, variable in enumerate(role.replica.environment_variables):
            if is_hidden(variable):
                value = launch.secret_of(variable) if variable.credential else variable.value
                yield _key(role.name, number, variable), value or ""
        yield from access.secret_values(launch, role.name, role.replica.storage)


def is_hidden(variable: EnvironmentVariable) -> bool:
    """Whether the value goes into the workload's own Secret."""
    is_secret = variable.value is not None and looks_secret(variable.name)
    return is_secret or variable.credential is not None


def _key(role: str, number: int, variable: EnvironmentVariable) -> str:
    return f"{role}.{number}.{variable.name}"[:LONGEST_KEY]


def _platform_values(launch: Launch, kind: JobKind, replica: Replica) -> dict[str, str]:
    handle = launch.handle
    values = {
        "RUNAI_PROJECT": handle.project,
        "RUNAI_JOB_NAME": handle.name,
        "RUNAI_JOB_UUID": str(handle.workload_id),
        "RUNAI_NUM_OF_GPUS": f"{replica.compute.gpus():g}",
        "JOB_NAME": handle.name,
        "JOB_UUID": str(handle.workload_id),
        # Without this, buffered output appears after a traceback, which then looks survived.
        "PYTHONUNBUFFERED": "1",
    }
    if kind is MPI:
        values["RUNAI_MPI_NUM_WORKERS"] = str(launch.spec.num_workers)
    if kind.is_plain and not launch.spec.kind.is_gang:
        values |= torchrun_variables(launch.spec)
    return values | ({"HOME": HOME} if replica.create_home_dir else {})


def torchrun_variables(spec: WorkloadSpec) -> dict[str, str]:
    """Variables that the PyTorch operator would add, as far as a single program needs them: those
    of a bare torchrun."""
    return {
        "PET_NNODES": "1",
        "PET_NODE_RANK": "0",
        "PET_NPROC_PER_NODE": processes(spec),
        "PET_MASTER_ADDR": "localhost",
        "PET_MASTER_PORT": str(PYTORCH.port),
    }


def processes(spec: WorkloadSpec) -> str:
    """Processes per pod for a bare torchrun: one per GPU. ``auto`` without GPUs would start one per
    CPU core of the node; an unrequested number above 1 would make WORLD_SIZE wrong for programs
    that do not use torchrun."""
    if spec.processes_per_pod:
        return str(spec.processes_per_pod)
    replicas = (spec.worker, spec.master_replica or spec.worker)
    most = max(replica.compute.gpu_devices_request for replica in replicas)
    return "auto" if most > 1 else "1"


def rendezvous(launch: Launch) -> list[Variable]:
    """Rendezvous variables of a job without a master, to which the operator gives none: worker 0
    takes the master's place.

    ``MASTER_ADDR`` and so on are for ``env://``, ``PET_*`` for a bare ``torchrun program.py``.
    """
    values = {
        "MASTER_ADDR": f"{job_name(launch.handle)}-worker-0",
        "MASTER_PORT": str(PYTORCH.port),
        "WORLD_SIZE": str(launch.spec.world_size),
    }
    values |= {"PET_MASTER_ADDR": values["MASTER_ADDR"], "PET_MASTER_PORT": values["MASTER_PORT"]}
    index = f"metadata.labels['{REPLICA_INDEX}']"
    variables: list[Variable] = [{"name": name, "value": value} for name, value in values.items()]
    return [*variables, field_variable("RANK", index), field_variable("PET_NODE_RANK", index)]


def from_secret(name: str, secret: str, key: str, *, optional: bool = False) -> Variable:
    """A variable from a Secret. If it is ``optional``, it is unset if the Secret has no
    such key."""
    where: dict[str, object] = {"name": secret, "key": key}
    return {
        "name": name,
        "valueFrom": {"secretKeyRef": where | ({"optional": True} if optional else {})},
    }


def field_variable(name: str, path: str) -> Variable:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _user_variable(variable: EnvironmentVariable, secret: str, key: str) -> Variable:
    """A variable as the user gave it; ``secret`` and ``key`` hold its value, if that is hidden."""
    name = variable.name
    if variable.pod_field_ref:
        return field_variable(name, variable.pod_field_ref.path)
    if variable.secret:
        return from_secret(name, variable.secret.name, variable.secret.key)
    if variable.config_map:
        at = {"name": variable.config_map.name, "key": variable.config_map.key}
        return {"name": name, "valueFrom": {"configMapKeyRef": at}}
    if is_hidden(variable):
        return from_secret(name, secret, key)
    return {"name": name, "value": variable.value or ""}
