"""Finds what no partition would ever start, so that it is refused before submission. Pure."""

from collections.abc import Iterator, Sequence

from engines.base import Launch
from engines.partitions import NodeShape, Partition
from engines.slurm.script.directives import job_account, job_partitions, seconds_left
from engines.slurm.script.shape import MIB, Tasks, group_tasks
from engines.slurm.script.site import SlurmSite
from spec.problems.errors import Problem, parse_path
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes

ADVICE = "; ask for less, or choose another node pool"
Obstacle = tuple[str, str]  # path of a field, message


def complaints(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Yield the problems that keep the workload from ever starting.

    Slurm may use any of several partitions, so all of them must have an obstacle. There are no
    problems if the partitions are unknown.
    """
    partitions = {it.name: it for it in launch.site.partitions}
    names = job_partitions(launch, site) or [it.name for it in partitions.values() if it.is_default]
    if not partitions or not names:
        return
    obstacles = [list(_first_obstacles(partitions, name, launch, site)) for name in names]
    if not all(obstacles):
        return
    if len(obstacles) == 1:
        for field, message in obstacles[0]:
            yield Problem(parse_path(field), f"{message}{ADVICE}")
    else:
        reasons = "; ".join(each[0][1] for each in obstacles)
        yield Problem(parse_path("nodePools"), f"none of the partitions would start it: {reasons}")


def _first_obstacles(
    partitions: dict[str, Partition], name: str, launch: Launch, site: SlurmSite
) -> Iterator[Obstacle]:
    """Yield the first obstacle for each field, in one partition."""
    if name not in partitions:
        yield "nodePools", f"the cluster has no partition {name}, only {', '.join(partitions)}"
        return
    fields: set[str] = set()
    for field, message in _obstacles_in(partitions[name], launch, site):
        if field not in fields:
            fields.add(field)
            yield field, message


def _obstacles_in(partition: Partition, launch: Launch, site: SlurmSite) -> Iterator[Obstacle]:
    name = partition.name
    longest = partition.max_seconds
    if partition.closed:
        yield "nodePools", f"the partition {name} takes no jobs, it is {partition.closed}"
    account = job_account(launch, site)
    if account and partition.accounts is not None and account not in partition.accounts:
        allowed = ", ".join(partition.accounts)
        yield (
            "nodePools",
            f"the partition {name} is for {allowed}, and not for the account {account}",
        )
    seconds = seconds_left(launch)
    if seconds is not None and longest is not None and seconds > longest:
        yield "timeLimitSeconds", f"the partition {name} allows {format_duration(longest)}"
    for tasks in group_tasks(launch.spec):
        yield from _node_obstacles(partition, tasks)


def _node_obstacles(partition: Partition, tasks: Tasks) -> Iterator[Obstacle]:
    """Yield obstacles for tasks: a single task must fit on a node, and all of them on all nodes,
    and on as many nodes as the partition allows."""
    if partition.nodes is None:
        return
    name = partition.name
    possible = _nodes_with_feature(partition, tasks)
    if not possible:
        text = f"no node of the partition {name} has the feature {tasks.replica.node_type}"
        yield f"{tasks.role}.nodeType", text
        return
    if obstacles := list(_task_obstacles(partition, tasks, possible)):
        yield from obstacles
        return
    fits = sum(count_fitting(it, tasks, partition) * it.count for it in possible)
    if not fits:
        yield f"{tasks.role}.compute", f"no node of {name} has everything that a rank requests"
    elif tasks.count > fits:
        text = f"of {tasks.count} ranks only {fits} fit on all nodes of {name} together"
        yield "numWorkers", text
    elif partition.max_nodes is not None:
        fewest = _fewest_nodes(partition, tasks)
        if fewest > partition.max_nodes:
            text = f"it takes {fewest} nodes, and the partition {name} allows {partition.max_nodes}"
            yield "numWorkers", text


def _task_obstacles(
    partition: Partition, tasks: Tasks, possible: Sequence[NodeShape]
) -> Iterator[Obstacle]:
    name = partition.name
    compute = f"{tasks.role}.compute"
    cores = _minimum(partition.max_cpus, max(it.cpus for it in possible))
    memory = _minimum(partition.max_memory, max(it.memory for it in possible))
    gpus = max(it.gpus for it in possible)
    if tasks.cpus > cores:
        field = "cpuCoreLimit" if tasks.compute.cpu_core_limit else "cpuCoreRequest"
        yield f"{compute}.{field}", f"a job may have {cores} CPU cores on a node of {name}"
    if tasks.memory > memory:
        field = "cpuMemoryLimit" if tasks.compute.cpu_memory_limit else "cpuMemoryRequest"
        text = f"a job may have {format_bytes(memory * MIB)} of memory on a node of {name}"
        yield f"{compute}.{field}", text
    if tasks.gpus > gpus:
        text = f"the nodes of {name} have {gpus} GPUs at most" if gpus else f"{name} has no GPUs"
        yield f"{compute}.gpuDevicesRequest", text


def _fewest_nodes(partition: Partition, tasks: Tasks) -> int:
    """Return the fewest nodes that hold all tasks. Nodes with the most room are used first."""
    rooms = [
        (count_fitting(it, tasks, partition), it.count)
        for it in _nodes_with_feature(partition, tasks)
    ]
    used = 0
    open_tasks = tasks.count
    for room, count in sorted(rooms, reverse=True):
        if room and open_tasks > 0:
            nodes = min(count, -(-open_tasks // room))
            used = used + nodes
            open_tasks = open_tasks - nodes * room
    return used


def count_fitting(shape: NodeShape, tasks: Tasks, partition: Partition) -> int:
    """Return how many of the tasks fit on an empty node of this shape."""
    fits = [_minimum(partition.max_cpus, shape.cpus) // tasks.cpus]
    fits += [_minimum(partition.max_memory, shape.memory) // tasks.memory] if tasks.memory else []
    fits += [shape.gpus // tasks.gpus] if tasks.gpus else []
    return min(fits)


def _nodes_with_feature(partition: Partition, tasks: Tasks) -> Sequence[NodeShape]:
    feature = tasks.replica.node_type
    return [it for it in partition.nodes or () if not feature or feature in it.features]


def _minimum(limit: int | None, value: int) -> int:
    return value if limit is None else min(limit, value)
