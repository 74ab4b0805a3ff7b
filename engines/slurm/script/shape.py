"""Groups the tasks of a job by their requests. Pure."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from spec.framework import Head
from spec.parts.compute import DEFAULT_MEMORY, Compute
from spec.values.quantities import to_bytes
from spec.workload import Replica, WorkloadSpec

MIB = 1024 * 1024


@dataclass(frozen=True)
class Tasks:
    """``count`` tasks with the same requests, which the fields at the path ``role`` in the spec
    define. ``count_field`` is the path of their number."""

    count: int
    replica: Replica
    role: str
    count_field: str = "numWorkers"

    slots: int = 1  # tasks of one pod, which share its requests

    @property
    def compute(self) -> Compute:
        return self.replica.compute

    @property
    def cpus(self) -> int:
        """CPUs of each task, from the limit if there is one."""
        cores = self.compute.cpu_core_limit or self.compute.cpu_core_request
        return math.ceil(cores / self.slots) or 1

    @property
    def memory_per_cpu(self) -> int | None:
        """Memory for each CPU in MiB, from the limit if there is one, because Slurm enforces
        requests. ``None`` for the default request, which nobody chose: then the cluster's default
        applies."""
        limit = self.compute.cpu_memory_limit
        request = self.compute.cpu_memory_request
        if limit is None and request == DEFAULT_MEMORY:
            return None
        memory = limit or request
        return math.ceil(to_bytes(memory) / self.slots / self.cpus / MIB)

    @property
    def memory(self) -> int:
        """MiB of each task; 0 if it does not request any."""
        return (self.memory_per_cpu or 0) * self.cpus

    @property
    def gpus(self) -> int:
        return self.compute.gpu_devices_request // self.slots


def script_text(spec: WorkloadSpec) -> str:
    """Return the batch script that runs instead of ranks; empty if there is none."""
    return spec.batch_script or ""


def has_launcher(spec: WorkloadSpec) -> bool:
    """Whether the batch script starts a single program, which starts the workers' tasks."""
    return spec.framework_traits.head is Head.LAUNCHER


def group_tasks(spec: WorkloadSpec) -> tuple[Tasks, ...]:
    """Return the tasks in groups with the same requests, in the order of their ranks: one group for
    all, one for the master and one for the workers, or those of named roles."""
    if spec.roles:
        return tuple(_group_roles(spec))
    worker = spec.worker
    master = spec.master
    if has_launcher(spec):
        slots = spec.slots_per_worker
        return (Tasks(spec.num_workers * slots, worker, "worker", slots=slots),)
    if master is None or _request_the_same(master, worker):
        return (Tasks(spec.num_pods, worker, "worker"),)
    return Tasks(1, master, "master"), Tasks(spec.num_workers, worker, "worker")


def _group_roles(spec: WorkloadSpec) -> Iterator[Tasks]:
    """Yield a group for each row of roles with the same requests."""
    rows = groupby(spec.gang_roles, key=lambda it: (it.replica.compute, it.replica.node_type))
    for _, row in rows:
        roles = list(row)
        count = sum(role.count for role in roles)
        path = roles[0].path
        yield Tasks(count, roles[0].replica, path, f"{path}.count")


def _request_the_same(master: Replica, worker: Replica) -> bool:
    return (master.compute, master.node_type) == (worker.compute, worker.node_type)
