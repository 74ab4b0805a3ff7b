"""Plans a step of a batch job: which tasks run on which nodes, at which hosts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.local.batch.hostlist import compress_counts, compress_hostlist, expand_hostlist
from engines.local.batch.job import ScriptJob, ScriptNode

TOO_MANY = "Unable to create step for job {0}: More processors requested than permitted"
TOO_MANY_NODES = "Only allocated {0} nodes asked for {1}"
OUT_OF_RANGE = "--relative and {0} option incompatible with count of allocated nodes ({1}+{2}>{3})"
FEW_TASKS = "Warning: can't run {0} processes on {1} nodes, setting nnodes to {0}"
OTHER_TASKS_PER_NODE = (
    "Warning: can't honor --ntasks-per-node set to {0} which doesn't match the requested tasks {1} "
    "with the number of requested nodes {2}. Ignoring --ntasks-per-node."
)
NO_NODES = "Unable to create step for job {0}: Requested node configuration is not available"
#: Options that ask for what this machine does not have.
REFUSED = {
    "multi-prog": "this machine has no --multi-prog; start each program by an srun of its own",
    "container-image": "this machine starts no containers; leave --container-image out",
    "container": "this machine starts no containers; leave --container out",
    "het-group": "a job of this machine has one part; leave --het-group out",
}
INHERITED = {
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "kill-on-bad-exit": ("SLURM_KILL_BAD_EXIT",),
    "label": ("SLURM_LABELIO",),
    "export": ("SLURM_EXPORT_ENV",),
    "output": ("SLURM_STDOUTMODE",),
    "error": ("SLURM_STDERRMODE",),
    "input": ("SLURM_STDINMODE",),
    "gpus-per-task": ("SLURM_GPUS_PER_TASK",),
    "overcommit": ("SLURM_OVERCOMMIT",),
    "overlap": ("SLURM_OVERLAP",),
    "exact": ("SLURM_EXACT",),
}


class StepError(Exception):
    """The step cannot be created; the message says why, in Slurm's words where it has any.
    ``warnings`` are what srun says before."""

    def __init__(self, message: str, warnings: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.warnings = tuple(warnings)


@dataclass(frozen=True)
class Task:
    """A task of a step. ``host`` is the rank whose host starts it."""

    number: int
    local_number: int
    node: ScriptNode
    node_number: int
    host: int


@dataclass(frozen=True)
class ScriptStep:
    """A step. ``cpus_per_task`` is what its srun asks for; ``warnings`` are sentences for
    people."""

    tasks: tuple[Task, ...]
    nodes: tuple[ScriptNode, ...]
    cpus_per_task: int | None
    warnings: tuple[str, ...] = ()

    @property
    def tasks_per_node(self) -> list[int]:
        return [sum(task.node is node for task in self.tasks) for node in self.nodes]


def inherit_options(given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the options with those that srun takes from its environment."""
    options = dict(given)
    for name, variables in INHERITED.items():
        for variable in variables:
            if name not in options and environment.get(variable):
                options[name] = environment[variable]
    return options


def plan_step(
    job: ScriptJob, given: Mapping[str, str], environment: Mapping[str, str], skipped: int = 0
) -> ScriptStep:
    """Return the step that these options of srun ask for. Raises ``StepError``. The first
    ``skipped`` of the nodes that it does not name are used last, because they may be busy."""
    for name, reason in REFUSED.items():
        if name in given:
            raise StepError(reason)
    options = inherit_options(given, environment)
    cpus = _read_count(given, "cpus-per-task")
    nodes = _allowed_nodes(job, options, skipped)
    least, most = _read_node_range(options, len(nodes))
    tasks = _task_count(options, most)
    warnings: list[str] = []
    if tasks < least:
        if "nodelist" not in given:
            warnings.append(FEW_TASKS.format(tasks, least))
        least = tasks
    per_node = _read_count(options, "ntasks-per-node")
    # Slurm accepts a number that the tasks do not exceed, although it does not divide them so.
    if per_node and tasks > per_node and tasks // least != per_node:
        warnings.append(OTHER_TASKS_PER_NODE.format(per_node, tasks, least))
    if least > len(nodes):
        raise StepError(TOO_MANY_NODES.format(len(job.nodes), least), warnings)
    if first := _read_relative(options):
        if first + least > len(job.nodes):
            name = "--nodes" if "nodes" in given else "SLURM_JOB_NUM_NODES"
            text = OUT_OF_RANGE.format(name, first, least, len(job.nodes))
            raise StepError(text, warnings)
        nodes = list(job.nodes[first:])
    chosen = nodes[: min(most, tasks)]
    used_nodes = [node for node in job.nodes if node in chosen]
    if "overcommit" not in options:
        permitted = [node.cpus // (cpus or 1) for node in used_nodes]
        if tasks > sum(permitted) or 0 in permitted:
            raise StepError(TOO_MANY.format(job.number), warnings)
    counts = _divide_tasks(used_nodes, tasks, cpus or job.cpus_per_task)
    return ScriptStep(
        tuple(_tasks(job, used_nodes, counts)), tuple(used_nodes), cpus, tuple(warnings)
    )


def _read_count(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text)):
        raise StepError(f'Invalid numeric value "{text}" for --{name}.')
    return int(text)


def _read_node_range(options: Mapping[str, str], count: int) -> tuple[int, int]:
    """Return the least and the most nodes of a step. ``count`` is how many there are."""
    least, _, most = options.get("nodes", "").partition("-")
    if not (least.isascii() and least.isdigit() and int(least)):
        return count, count
    if not (most.isascii() and most.isdigit()):
        most = least
    return int(least), max(int(least), int(most))


def _read_relative(options: Mapping[str, str]) -> int:
    text = options.get("relative", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _allowed_nodes(job: ScriptJob, options: Mapping[str, str], skipped: int) -> list[ScriptNode]:
    """Return the nodes that the step may use, those that it asks for first."""
    by_name = {node.name: node for node in job.nodes}
    nodes = [*job.nodes[skipped:], *job.nodes[:skipped]]
    if excluded := options.get("exclude"):
        nodes = [node for node in nodes if node.name not in expand_hostlist(excluded)]
    if asked := options.get("nodelist"):
        names = expand_hostlist(asked)
        if unknown := [name for name in names if name not in by_name]:
            raise StepError(
                f"node {unknown[0]} is not one of this job: {compress_hostlist(by_name)}"
            )
        first_nodes = [by_name[name] for name in dict.fromkeys(names)]
        nodes = first_nodes + [node for node in nodes if node not in first_nodes]
    if not nodes:
        raise StepError(NO_NODES.format(job.number))
    return nodes


def _task_count(options: Mapping[str, str], nodes: int) -> int:
    if count := _read_count(options, "ntasks"):
        return count
    return nodes * (_read_count(options, "ntasks-per-node") or 1)


def _divide_tasks(nodes: Sequence[ScriptNode], tasks: int, cpus: int) -> list[int]:
    """Return the tasks of each node: one for each first, then as many as it has CPUs for, node by
    node, then one more for each in turn, as Slurm divides them."""
    counts = [1] * len(nodes)
    left = tasks - len(nodes)
    for number, node in enumerate(nodes):
        more = min(left, max(0, node.cpus // cpus - 1))
        counts[number] += more
        left -= more
    each, rest = divmod(left, len(nodes))
    return [count + each + (number < rest) for number, count in enumerate(counts)]


def _tasks(job: ScriptJob, nodes: Sequence[ScriptNode], counts: Sequence[int]) -> Iterator[Task]:
    number = 0
    for node_number, (node, count) in enumerate(zip(nodes, counts, strict=True)):
        for local_number in range(count):
            # The host of the rank with the task's number if it is here, so that the limits of a
            # rank hold for its task; else the hosts of the node take turns.
            own = number if number in node.ranks else node.ranks[local_number % len(node.ranks)]
            yield Task(number, local_number, node, node_number, own)
            number += 1


def step_variables(job: ScriptJob, step: ScriptStep, number: int) -> dict[str, str]:
    """Return what srun sets for all tasks of a step."""
    counts = compress_counts(step.tasks_per_node)
    names = compress_hostlist(node.name for node in step.nodes)
    tasks = str(len(step.tasks))
    own = {"SLURM_CPUS_PER_TASK": str(step.cpus_per_task)} if step.cpus_per_task else {}
    return own | {
        "SLURM_STEP_ID": str(number),
        "SLURM_STEPID": str(number),
        "SLURM_STEP_NODELIST": names,
        "SLURM_STEP_NUM_NODES": str(len(step.nodes)),
        "SLURM_STEP_NUM_TASKS": tasks,
        "SLURM_STEP_TASKS_PER_NODE": counts,
        "SLURM_NTASKS": tasks,
        "SLURM_NPROCS": tasks,
        "SLURM_NNODES": str(len(step.nodes)),
        "SLURM_TASKS_PER_NODE": counts,
        "SLURM_LAUNCH_NODE_IPADDR": job.nodes[0].name,
        "SLURM_SRUN_COMM_HOST": job.nodes[0].name,
    }


def task_variables(
    step: ScriptStep,
    task: Task,
    options: Mapping[str, str],
    gpus_of_step: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    """Return what differs between the tasks of a step. ``gpus_of_step`` are the positions of its
    GPUs among those of each node, by its name; a node that is missing has all of its GPUs."""
    node = task.node
    on_node = [other.number for other in step.tasks if other.node is node]
    values = {
        "SLURM_PROCID": str(task.number),
        "SLURM_LOCALID": str(task.local_number),
        "SLURM_NODEID": str(task.node_number),
        "SLURM_GTIDS": ",".join(map(str, on_node)),
        "SLURMD_NODENAME": node.name,
        "SLURM_CPUS_ON_NODE": str(node.cpus),
    }
    if node.gpu_count:
        positions = gpus_of_step.get(node.name, range(node.gpu_count))
        gpus = [node.gpus[position] for position in positions if position < len(node.gpus)]
        values["SLURM_GPUS_ON_NODE"] = str(len(positions))
        values["CUDA_VISIBLE_DEVICES"] = ",".join(_visible_gpus(gpus, task, options))
    return values


def _visible_gpus(gpus: Sequence[str], task: Task, options: Mapping[str, str]) -> Sequence[str]:
    """Return the GPUs that a task sees: those of its step on its node, or its own share with
    ``--gpus-per-task``, as on Slurm."""
    own = options.get("gpus-per-task", "").rpartition(":")[2]
    if not own.isdigit() or not gpus:
        return gpus
    count = int(own)
    first = task.local_number * count % len(gpus)
    return gpus[first : first + count]
