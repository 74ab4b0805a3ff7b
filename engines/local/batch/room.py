"""Which CPUs and GPUs of a batch job its steps use. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engines.local.batch.job import ScriptJob
from engines.local.batch.step import ScriptStep

#: CPUs and GPUs by the name of a node.
Demand = Mapping[str, tuple[int, int]]
#: With one of these, a step takes the CPUs that it asks for, else all of its nodes.
EXACT = frozenset({"exact", "exclusive", "cpus-per-task"})
GPU_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")


def step_demand(step: ScriptStep, options: Mapping[str, str]) -> Demand:
    """Return what a step takes for itself: nothing with ``--overlap``, and all GPUs of its nodes
    unless it asks for a number of them."""
    if "overlap" in options:
        return {}
    counts = zip(step.nodes, step.tasks_per_node, strict=True)
    demand: dict[str, tuple[int, int]] = {}
    for node, tasks in counts:
        cpus = node.cpus
        if options.keys() & EXACT:
            cpus = min(cpus, tasks * (step.cpus_per_task or 1))
        gpus = min(node.gpu_count, _gpus_on_node(options, tasks, node.gpu_count, len(step.nodes)))
        demand[node.name] = (cpus, gpus)
    return demand


def _gpus_on_node(options: Mapping[str, str], tasks: int, gpus: int, nodes: int) -> int:
    for name in GPU_OPTIONS:
        if not options.get(name):
            continue
        if options[name] == "none":
            return 0
        last = options[name].rpartition(":")[2]
        if last.isascii() and last.isdigit():
            count = int(last)
            return {"gpus-per-task": count * tasks, "gpus": -(-count // nodes)}.get(name, count)
    return gpus


@dataclass
class StepRoom:
    """What steps that run now have taken of a job's nodes."""

    job: ScriptJob
    taken: list[Demand] = field(default_factory=list)

    def choose(self, demands: Iterable[Demand]) -> int | None:
        """Return the index of the first demand for which there is room, which is taken."""
        for index, demand in enumerate(demands):
            if self._fits(demand):
                self.taken.append(demand)
                return index
        return None

    def give_back(self, demand: Demand) -> None:
        self.taken.remove(demand)

    def _fits(self, demand: Demand) -> bool:
        for node in self.job.nodes:
            cpus, gpus = demand.get(node.name, (0, 0))
            used = [other[node.name] for other in self.taken if node.name in other]
            free_cpus = node.cpus - sum(each[0] for each in used)
            free_gpus = node.gpu_count - sum(each[1] for each in used)
            if cpus > free_cpus or gpus > free_gpus:
                return False
        return True
