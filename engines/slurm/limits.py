"""Finds what no partition would ever start, so that it is refused before submission. Pure."""

from collections.abc import Iterator, Sequence

from engines.base import Launch
from engines.partitions import NodeShape, Partition
from engines.slurm.request import JobRequest, ScriptRequest, job_request
from engines.slurm.script.shape import MIB, Tasks
from engines.slurm.script.site import SlurmSite
from spec.imports.allocation import GPUS_OF_NODE
from spec.imports.directives import parse_size
from spec.problems.errors import Problem
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes

ADVICE = "; ask for less, or choose another node pool"
ADVICE_FOR_SCRIPT = "; ask for less, or name another partition"
ACCOUNT = "account"
Obstacle = tuple[str, str]  # path of a field, or ``ACCOUNT``; message


def complaints(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Yield the problems that keep the workload from ever starting.

    Slurm may use any of several partitions, so all of them must have an obstacle. There are no
    problems if the partitions are unknown.
    """
    request = job_request(launch, site)
    partitions = {it.name: it for it in launch.site.partitions}
    defaults = [it.name for it in partitions.values() if it.is_default]
    names = request.partitions or defaults
    if not partitions or not names:
        return
    obstacles = [list(_first_obstacles(partitions, name, request)) for name in names]
    if not all(obstacles):
        return
    if len(obstacles) == 1:
        advice = ADVICE_FOR_SCRIPT if request.script else ADVICE
        for field, message in obstacles[0]:
            yield _problem(request, field, f"{message}{advice}")
    else:
        reasons = "; ".join(each[0][1] for each in obstacles)
        yield _problem(request, "nodePools", f"none of the partitions would start it: {reasons}")


def _problem(request: JobRequest, field: str, message: str) -> Problem:
    if field == ACCOUNT:
        return request.problem("nodePools", message, "account", "partition")
    return request.problem(field, message)


def _first_obstacles(
    partitions: dict[str, Partition], name: str, request: JobRequest
) -> Iterator[Obstacle]:
    """Yield the first obstacle for each field, in one partition."""
    if name not in partitions:
        yield "nodePools", f"the cluster has no partition {name}, only {', '.join(partitions)}"
        return
    fields: set[str] = set()
    for field, message in _obstacles_in(partitions[name], request):
        if field not in fields:
            fields.add(field)
            yield field, message


def _obstacles_in(partition: Partition, request: JobRequest) -> Iterator[Obstacle]:
    name = partition.name
    longest = partition.max_seconds
    if partition.closed:
        yield "nodePools", f"the partition {name} takes no jobs, it is {partition.closed}"
    if text := _admission_obstacle(
        request.account, partition.accounts, partition.denied_accounts, "account"
    ):
        yield ACCOUNT, f"the partition {name} {text}"
    if text := _admission_obstacle(request.qos, partition.qos, partition.denied_qos, "QOS"):
        yield "priorityClass", f"the partition {name} {text}"
    seconds = request.seconds
    if seconds is not None and longest is not None and seconds > longest:
        yield "timeLimitSeconds", f"the partition {name} allows {format_duration(longest)}"
    for tasks in request.parts:
        yield from _node_obstacles(partition, tasks)
    if request.script:
        yield from _script_obstacles(partition, request.script)


def _admission_obstacle(
    name: str, allowed: Sequence[str] | None, denied: Sequence[str], what: str
) -> str:
    """Return why a partition is not for an account or a QOS; empty if it is."""
    if name and allowed is not None and name not in allowed:
        return f"is for {', '.join(allowed)}, and not for the {what} {name}"
    return f"is not for the {what} {name}" if name in denied else ""


def _script_obstacles(partition: Partition, script: ScriptRequest) -> Iterator[Obstacle]:
    """Yield obstacles for what a batch script asks for. Where Slurm may place its tasks in several
    ways, only what no way allows is an obstacle."""
    allocation = script.allocation
    name = partition.name
    if allocation.parts:
        return  # each part may name a partition of its own
    if partition.max_nodes is not None and allocation.nodes > partition.max_nodes:
        text = f"it takes {allocation.nodes} nodes, and the partition {name} allows"
        yield "numWorkers", f"{text} {partition.max_nodes}"
    if partition.nodes is None:
        return
    feature = script.value("constraint")
    is_one_feature = feature.replace("-", "").replace("_", "").replace(".", "").isalnum()
    possible = [it for it in partition.nodes if not is_one_feature or feature in it.features]
    if not possible:
        yield "worker.nodeType", f"no node of the partition {name} has the feature {feature}"
        return
    count = sum(it.count for it in possible)
    if allocation.nodes > count:
        yield (
            "numWorkers",
            f"it takes {allocation.nodes} nodes, and the partition {name} has {count}",
        )
    cores = _minimum(partition.max_cpus, max(it.cpus for it in possible))
    all_cores = sum(_minimum(partition.max_cpus, it.cpus) * it.count for it in possible)
    if allocation.cpus_per_task > cores:
        text = f"a job may have {cores} CPU cores on a node of {name}"
        yield "worker.compute.cpuCoreRequest", text
    elif script.cpus > all_cores and not script.shares_cpus:
        text = f"it takes {script.cpus} CPU cores, and the nodes of {name} have {all_cores}"
        yield "worker.compute.cpuCoreRequest", text
    memory = _minimum(partition.max_memory, max(it.memory for it in possible))
    if (parse_size(script.value("mem")) or 0) > memory:
        text = f"a job may have {format_bytes(memory * MIB)} of memory on a node of {name}"
        yield "worker.compute.cpuMemoryRequest", text
    yield from _script_gpu_obstacles(name, script, possible)


def _script_gpu_obstacles(
    name: str, script: ScriptRequest, possible: Sequence[NodeShape]
) -> Iterator[Obstacle]:
    allocation = script.allocation
    most = max(it.gpus for it in possible)
    total = sum(it.gpus * it.count for it in possible)
    field = "worker.compute.gpuDevicesRequest"
    fixed_by_node = allocation.gpu_option and allocation.gpu_option.name in GPUS_OF_NODE
    on_node = allocation.gpus // allocation.nodes if fixed_by_node else 0
    if allocation.gpus and not most:
        yield field, f"{name} has no GPUs"
    elif on_node > most:
        yield field, f"the nodes of {name} have {most} GPUs at most"
    elif allocation.gpus > total:
        yield field, f"it takes {allocation.gpus} GPUs, and the nodes of {name} have {total}"


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
        yield tasks.count_field, text
    elif partition.max_nodes is not None:
        fewest = _fewest_nodes(partition, tasks)
        if fewest > partition.max_nodes:
            text = f"it takes {fewest} nodes, and the partition {name} allows {partition.max_nodes}"
            yield tasks.count_field, text


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
