"""How the ranks of a gang without an operator find each other: host names, and the variables of
their framework. Pure."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import JAX, PYTORCH, TENSORFLOW, XGBOOST
from engines.kubernetes.labels import labels
from engines.kubernetes.manifests.pod.env import Variable, processes
from engines.kubernetes.names import job_name
from spec.framework import Framework
from spec.workload import Pod

Values = dict[str, str]


@dataclass(frozen=True)
class NamedRanks:
    """The pods of a launch, and the host names by which they reach each other, in rank order."""

    launch: Launch
    pods: tuple[Pod, ...]
    hosts: tuple[str, ...]


def hosts_service(launch: Launch, space: str) -> Manifest:
    """The headless Service that gives each pod of a gang a name, also before it is ready."""
    marks = labels(launch)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": job_name(launch.handle), "namespace": space, "labels": marks},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": marks},
    }


def rank_values(gang: NamedRanks, pod: Pod) -> Values:
    """The variables of a rank, those that the operator of its framework would set."""
    framework = gang.launch.spec.distributed_framework
    return RENDEZVOUS[framework](gang, pod) if framework else {}


def with_variables(template: Manifest, variables: Iterable[Variable]) -> Manifest:
    """A pod template with these variables, which win over others of the same name."""
    wins = list(variables)
    names = {variable["name"] for variable in wins}
    containers = [
        each | {"env": [it for it in each["env"] if it["name"] not in names] + wins}
        for each in template["spec"]["containers"]
    ]
    return template | {"spec": template["spec"] | {"containers": containers}}


def _pytorch(gang: NamedRanks, pod: Pod) -> Values:
    values = _master(gang, pod, PYTORCH.port)
    return values | {
        "PET_MASTER_ADDR": values["MASTER_ADDR"],
        "PET_MASTER_PORT": values["MASTER_PORT"],
        "PET_NNODES": str(len(gang.pods)),
        "PET_NODE_RANK": values["RANK"],
        "PET_NPROC_PER_NODE": processes(gang.launch.spec),
    }


def _xgboost(gang: NamedRanks, pod: Pod) -> Values:
    return _master(gang, pod, XGBOOST.port)


def _jax(gang: NamedRanks, pod: Pod) -> Values:
    return {
        "COORDINATOR_ADDRESS": gang.hosts[0],
        "COORDINATOR_PORT": str(JAX.port),
        "NUM_PROCESSES": str(len(gang.pods)),
        "PROCESS_ID": str(pod.rank),
    }


def _tensorflow(gang: NamedRanks, pod: Pod) -> Values:
    cluster: dict[str, list[str]] = {}
    for other, host in zip(gang.pods, gang.hosts, strict=True):
        if other.role != "evaluator":  # it reads checkpoints, and is in no cluster
            cluster.setdefault(other.role, []).append(f"{host}:{TENSORFLOW.port}")
    task = {"type": pod.role, "index": pod.index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}


def _master(gang: NamedRanks, pod: Pod, port: int) -> Values:
    return {
        "MASTER_ADDR": gang.hosts[0],
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(gang.launch.spec.world_size),
        "RANK": str(pod.rank),
    }


#: The frameworks whose ranks can meet without an operator.
RENDEZVOUS: dict[Framework, Callable[[NamedRanks, Pod], Values]] = {
    Framework.PYTORCH: _pytorch,
    Framework.XGBOOST: _xgboost,
    Framework.JAX: _jax,
    Framework.TENSORFLOW: _tensorflow,
}
