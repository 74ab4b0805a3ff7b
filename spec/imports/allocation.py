"""Computes the allocation of a batch script: the nodes, tasks and GPUs that sbatch would request
for its options. Pure."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from spec.imports.directives import Directive, Note, read_header
from spec.imports.placeholders import has_placeholder

#: Options that decide the number of tasks. Only with one of them does Slurm set SLURM_NTASKS.
TASK_OPTIONS = {"ntasks", "ntasks-per-node", "ntasks-per-gpu", "extra-node-info"}
GPUS_OF_NODE = ("gpus-per-node", "gres")
GPU_OPTIONS = ("gpus", *GPUS_OF_NODE, "gpus-per-socket", "gpus-per-task", "tres-per-task")
AMOUNT = re.compile(r"\s*\+?([0-9]{1,12})([kKmM]?)\Z")
SCALES = {"": 1, "k": 1024, "m": 1024 * 1024}
NODE_RANGE = re.compile(r"([0-9]+[kKmM]?)-([0-9]+[kKmM]?)\Z")


@dataclass(frozen=True)
class JobAllocation:
    """What a job gets. ``options`` has the last option of each name. A heterogeneous job has
    ``parts``: its numbers are the sums of theirs, its options those of the first one."""

    nodes: int
    tasks: int
    cpus_per_task: int
    gpus: int
    has_tasks_option: bool
    gpu_option: Directive | None
    options: Mapping[str, Directive]
    notes: tuple[Note, ...]
    parts: tuple["JobAllocation", ...] = ()

    @property
    def cpus(self) -> int:
        """The CPU cores of all tasks."""
        if self.parts:
            return sum(part.cpus for part in self.parts)
        return self.tasks * self.cpus_per_task

    @property
    def tasks_per_node(self) -> tuple[int, ...]:
        """The tasks of each node, as even as possible, the first nodes having more. Only for a
        number of nodes that was checked: a script may ask for billions of them."""
        each, more = divmod(self.tasks, self.nodes)
        return tuple(each + (index < more) for index in range(self.nodes))

    @property
    def gpus_of_task(self) -> int:
        """The GPUs that each task has to itself."""
        return self.gpus // self.tasks

    @property
    def shared_gpus(self) -> int:
        """The GPUs that remain if each task has the same number."""
        return self.gpus % self.tasks


def read_allocation(text: str) -> JobAllocation:
    """Compute the allocation of a script from its ``#SBATCH`` lines."""
    parts = [
        allocate({option.name: option for option in directives})
        for directives in read_header(text).parts
    ]
    return parts[0] if len(parts) == 1 else _add_up(tuple(parts))


def _add_up(parts: tuple[JobAllocation, ...]) -> JobAllocation:
    """Return the allocation of a heterogeneous job."""
    tasks = sum(part.tasks for part in parts)
    return replace(
        parts[0],
        nodes=sum(part.nodes for part in parts),
        tasks=tasks,
        cpus_per_task=math.ceil(sum(part.cpus for part in parts) / tasks),
        gpus=sum(part.gpus for part in parts),
        has_tasks_option=any(part.has_tasks_option for part in parts),
        gpu_option=next((part.gpu_option for part in parts if part.gpu_option), None),
        notes=tuple(note for part in parts for note in part.notes),
        parts=parts,
    )


def allocate(options: Mapping[str, Directive]) -> JobAllocation:
    """Compute the allocation from the options, which are given by name."""
    return _Request(options).allocation()


@dataclass
class _Request:
    """The numbers in the options. Those that cannot be read leave a note."""

    options: Mapping[str, Directive]
    notes: list[Note] = field(default_factory=list)

    def allocation(self) -> JobAllocation:
        tasks = self._count("ntasks")
        per_node = self._count("ntasks-per-node")
        tasks_of_gpu = self._count("ntasks-per-gpu")
        gpus_of_task = self._gpus("gpus-per-task") or self._gpus("tres-per-task")
        gpus_of_node = max(self._gpus(name) for name in GPUS_OF_NODE)
        gpus = self._gpus("gpus")

        nodes = self._nodes(tasks)
        if nodes is None and gpus and gpus_of_node:
            nodes = math.ceil(gpus / gpus_of_node)
        elif nodes is None and tasks and per_node:
            nodes = math.ceil(tasks / per_node)
        nodes = nodes or 1
        if tasks:
            nodes = min(nodes, tasks)  # sbatch warns and requests fewer nodes

        on_sockets = self._gpus("gpus-per-socket") * (self._count("sockets-per-node") or 1)
        gpus = gpus or (gpus_of_node or on_sockets) * nodes
        if tasks is None and tasks_of_gpu and gpus:
            tasks = gpus * tasks_of_gpu
        elif tasks is None and per_node:
            tasks = nodes * per_node
        elif tasks is None and gpus_of_task and gpus:
            tasks = max(1, gpus // gpus_of_task)
        elif tasks is None:
            tasks = nodes * self._hardware_threads()
        nodes = min(nodes, tasks)
        if not gpus and gpus_of_task:
            gpus = gpus_of_task * tasks
        elif not gpus and tasks_of_gpu:
            gpus = math.ceil(tasks / tasks_of_gpu)
        return JobAllocation(
            nodes=nodes,
            tasks=tasks,
            cpus_per_task=self._cpus(tasks, gpus),
            gpus=gpus,
            has_tasks_option=bool(TASK_OPTIONS & self.options.keys()) or gpus_of_task > 0,
            gpu_option=next(
                (self.options[name] for name in GPU_OPTIONS if name in self.options), None
            ),
            options=self.options,
            notes=tuple(self.notes),
        )

    def _count(self, name: str) -> int | None:
        """Return the number in an option; ``None`` if it is missing or not a positive number."""
        option = self._option(name)
        if option is None:
            return None
        if number := parse_amount(option.value):
            return number
        self.notes.append(
            Note(option.line, f"--{name}={option.value} is not a number", blocks=True)
        )
        return None

    def _option(self, name: str) -> Directive | None:
        """Return an option; ``None`` if it is missing, or its value is still a placeholder."""
        option = self.options.get(name)
        return None if option and has_placeholder(option.value) else option

    def _nodes(self, tasks: int | None) -> int | None:
        """Return the number of nodes; for ``2-4`` the smallest, if the script also gives the number
        of tasks. ``None`` leaves it to Slurm."""
        option = self._option("nodes")
        if option is None or option.value == "0":
            return None
        match = NODE_RANGE.match(option.value)
        if not match:
            return self._count("nodes")
        if match[1] != match[2] and tasks is None:
            text = f"--nodes={option.value} leaves open how many tasks there are: add --ntasks"
            self.notes.append(Note(option.line, text, blocks=True))
        return parse_amount(match[1])

    def _gpus(self, name: str) -> int:
        """Return the number of GPUs in an option, such as ``gpu:a100:2`` or ``2``. For several
        numbers of one type Slurm uses the largest."""
        option = self._option(name)
        if option is None:
            return 0
        counts: dict[str, int] = {}
        for device, number in _parse_devices(option):
            if number is None:
                text = f"--{name}={option.value} has no number of GPUs"
                self.notes.append(Note(option.line, text, blocks=True))
                continue
            counts[device] = max(number, counts.get(device, 0))
        if name == "gres" and not counts and option.value not in {"", "none"}:
            text = f"{option.value} is left out: only GPUs are requested."
            self.notes.append(Note(option.line, text))
        return sum(counts.values())

    def _hardware_threads(self) -> int:
        """Return the tasks of a node with ``--extra-node-info=sockets:cores:threads``, whose tasks
        are its threads; 1 without it."""
        option = self._option("extra-node-info")
        numbers = [parse_amount(part) for part in option.value.split(":")] if option else []
        return math.prod(number or 1 for number in numbers) if len(numbers) == 3 else 1

    def _cpus(self, tasks: int, gpus: int) -> int:
        cpus_of_task = self._count("cpus-per-task")
        cpus_of_gpu = self._count("cpus-per-gpu")
        if cpus_of_task is None and cpus_of_gpu and gpus:
            return math.ceil(cpus_of_gpu * gpus / tasks)
        return cpus_of_task or 1


def parse_amount(text: str) -> int | None:
    """Return a number as sbatch reads it, such as ``4``, ``+4`` or ``1k``; ``None`` for anything
    else."""
    match = AMOUNT.match(text)
    return int(match[1]) * SCALES[match[2].lower()] if match else None


def _parse_devices(option: Directive) -> Iterator[tuple[str, int | None]]:
    """Yield the type and number of the GPUs in a value. The number is ``None`` if it is wrong."""
    names_devices = option.name in {"gres", "tres-per-task"}
    for item in option.value.split(","):
        text = item.strip().removeprefix("gres:").removeprefix("gres/").replace("=", ":")
        parts = text.split(":")
        if names_devices and parts[0] != "gpu":
            continue
        if names_devices:
            parts = parts[1:]
        number = parse_amount(parts[-1]) if parts else 1
        if number is not None:
            yield ":".join(parts[:-1]), number
        elif names_devices and len(parts) == 1:
            yield parts[0], 1  # gpu:a100 is one GPU
        elif text:
            yield "", None


def sharing_note(allocation: JobAllocation, *, unchanged: bool) -> Note | None:
    """Return the note about GPUs that cannot be divided evenly among the tasks, if there are any.
    Slurm lets tasks share them. A workload gives the same number to each."""
    option = allocation.gpu_option
    if not allocation.shared_gpus or option is None:
        return None
    gpus = f"{allocation.gpus} GPU{'s' if allocation.gpus > 1 else ''}"
    if unchanged:
        return Note(option.line, f"The {allocation.tasks} tasks share {gpus}.")
    text = f"{gpus} cannot be divided evenly among {allocation.tasks} tasks"
    return Note(option.line, text, blocks=True)
