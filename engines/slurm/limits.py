"""Find what no partition would ever start, so that it can be refused before submission. Pure."""

from collections.abc import Iterator, Sequence

from engines.base import Launch
from engines.partitions import NodeShape, Partition
from engines.slurm.script.directives import account, left, partitions
from engines.slurm.script.shape import MIB, Tasks, tasks_of
from engines.slurm.script.site import SlurmSite
from spec.problems.errors import Problem, parse_path
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes

INSTEAD = "; ask for less, or choose another node pool"
Obstacle = tuple[str, str]  # place, message


def complaints(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Problems that keep the workload from ever starting. Slurm may use any of several partitions,
    so it must be impossible in all of them. None if the partitions are unknown."""
    there = {it.name: it for it in launch.site.partitions}
    wanted = partitions(launch, site) or [it.name for it in there.values() if it.is_default]
    if not there or not wanted:
        return
    obstacles = [list(_obstacles(there, name, launch, site)) for name in wanted]
    if not all(obstacles):
        return
    if len(obstacles) == 1:
        for place, message in obstacles[0]:
            yield Problem(parse_path(place), f"{message}{INSTEAD}")
    else:
        said = "; ".join(each[0][1] for each in obstacles)
        yield Problem(parse_path("nodePools"), f"none of the partitions would start it: {said}")


def _obstacles(
    there: dict[str, Partition], name: str, launch: Launch, site: SlurmSite
) -> Iterator[Obstacle]:
    """The first obstacle for each field, in one partition."""
    if name not in there:
        yield "nodePools", f"the cluster has no partition {name}, only {', '.join(there)}"
        return
    said: set[str] = set()
    for place, message in _all(there[name], launch, site):
        if place not in said:
            said.add(place)
            yield place, message


def _all(partition: Partition, launch: Launch, site: SlurmSite) -> Iterator[Obstacle]:
    name = partition.name
    longest = partition.max_seconds
    if partition.closed:
        yield "nodePools", f"the partition {name} takes no jobs, it is {partition.closed}"
    own = account(launch, site)
    if own and partition.accounts is not None and own not in partition.accounts:
        allowed = ", ".join(partition.accounts)
        yield "nodePools", f"the partition {name} is for {allowed}, and not for the account {own}"
    asked = left(launch)
    if asked is not None and longest is not None and asked > longest:
        yield "timeLimitSeconds", f"the partition {name} allows {format_duration(longest)}"
    for tasks in tasks_of(launch.spec):
        yield from _of_nodes(partition, tasks)


def _of_nodes(partition: Partition, tasks: Tasks) -> Iterator[Obstacle]:
    """Obstacles for tasks: whether a single one fits on any node, all of them on all nodes, and on
    as many nodes as the partition allows."""
    if partition.nodes is None:
        return
    name = partition.name
    possible = _possible(partition, tasks)
    if not possible:
        text = f"no node of the partition {name} has the feature {tasks.replica.node_type}"
        yield f"{tasks.role}.nodeType", text
        return
    if alone := list(_of_one(partition, tasks, possible)):
        yield from alone
        return
    fits = sum(room(it, tasks, partition) * it.count for it in possible)
    if not fits:
        yield f"{tasks.role}.compute", f"no node of {name} has all that a rank asks for"
    elif tasks.count > fits:
        where = f"of {tasks.count} ranks only {fits} fit on all nodes of {name} together"
        yield "numWorkers", where
    elif partition.max_nodes is not None:
        least = _least_nodes(partition, tasks)
        if least > partition.max_nodes:
            text = f"it takes {least} nodes, and the partition {name} allows {partition.max_nodes}"
            yield "numWorkers", text


def _of_one(
    partition: Partition, tasks: Tasks, possible: Sequence[NodeShape]
) -> Iterator[Obstacle]:
    name = partition.name
    compute = f"{tasks.role}.compute"
    cores = _least(partition.max_cpus, max(it.cpus for it in possible))
    memory = _least(partition.max_memory, max(it.memory for it in possible))
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


def _least_nodes(partition: Partition, tasks: Tasks) -> int:
    """The fewest nodes that hold all tasks, if those with the most room are used first."""
    rooms = [(room(it, tasks, partition), it.count) for it in _possible(partition, tasks)]
    taken = 0
    open_tasks = tasks.count
    for each, count in sorted(rooms, reverse=True):
        if each and open_tasks > 0:
            nodes = min(count, -(-open_tasks // each))
            taken = taken + nodes
            open_tasks = open_tasks - nodes * each
    return taken


def room(shape: NodeShape, tasks: Tasks, partition: Partition) -> int:
    """How many of the tasks fit on an empty node of this shape."""
    fits = [_least(partition.max_cpus, shape.cpus) // tasks.cpus]
    fits += [_least(partition.max_memory, shape.memory) // tasks.memory] if tasks.memory else []
    fits += [shape.gpus // tasks.gpus] if tasks.gpus else []
    return min(fits)


def _possible(partition: Partition, tasks: Tasks) -> Sequence[NodeShape]:
    wanted = tasks.replica.node_type
    return [it for it in partition.nodes or () if not wanted or wanted in it.features]


def _least(limit: int | None, value: int) -> int:
    return value if limit is None else min(limit, value)
