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


@dataclass(frozen=True)
class StepGrant:
    """What a step has taken: the demand with this index. ``gpus`` are positions among the GPUs of
    each node, by its name."""

    choice: int
    demand: Demand
    gpus: Mapping[str, tuple[int, ...]]


@dataclass
class StepRoom:
    """What steps that run now have taken of a job's nodes."""

    job: ScriptJob
    taken: list[StepGrant] = field(default_factory=list)

    def choose(self, demands: Iterable[Demand]) -> StepGrant | None:
        """Take the first demand for which there is room."""
        for index, demand in enumerate(demands):
            if self._has_cpus(demand) and (gpus := self._choose_gpus(demand)) is not None:
                grant = StepGrant(index, demand, gpus)
                self.taken.append(grant)
                return grant
        return None

    def give_back(self, grant: StepGrant) -> None:
        self.taken.remove(grant)

    def _has_cpus(self, demand: Demand) -> bool:
        for node in self.job.nodes:
            cpus, _ = demand.get(node.name, (0, 0))
            used = sum(grant.demand.get(node.name, (0, 0))[0] for grant in self.taken)
            if cpus > node.cpus - used:
                return False
        return True

    def _choose_gpus(self, demand: Demand) -> dict[str, tuple[int, ...]] | None:
        """Return free GPUs of each node; ``None`` if one has too few."""
        chosen: dict[str, tuple[int, ...]] = {}
        for node in self.job.nodes:
            if node.name not in demand:
                continue
            _, count = demand[node.name]
            used = {gpu for grant in self.taken for gpu in grant.gpus.get(node.name, ())}
            free = [gpu for gpu in range(node.gpu_count) if gpu not in used]
            if count > len(free):
                return None
            chosen[node.name] = tuple(free[:count])
        return chosen
