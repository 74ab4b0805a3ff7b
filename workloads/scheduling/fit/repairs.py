"""Find changes that would let a gang start, by trying each on the same nodes. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from math import log

from spec.parts.compute import Compute
from spec.parts.scheduling import NODE_TYPE
from spec.values.quantities import UNITS, to_bytes
from spec.workload import MAX_WORKERS, WorkloadSpec
from workloads.scheduling.fit.judge import Answer, Fit, Ground, predict_fit
from workloads.scheduling.fit.queue import workers_within_maximum

MAX_REPAIRS = 5  # offered at a time
MAX_OF_A_KIND = 2
MAX_TRIES = 24  # per kind of repair; each try packs the whole cluster


class RepairKind(StrEnum):
    WORKERS = "workers"
    SHAPE = "shape"
    POOL = "pool"
    TYPE = "type"
    COMPUTE = "compute"


@dataclass(frozen=True)
class ComputeChoice:
    """Another compute resource for the workers."""

    key: str
    name: str
    compute: Compute


@dataclass(frozen=True)
class Repair:
    """A change. ``change`` identifies it in a form: ``workers=4``, ``shape=2x4``, ``pool=a100``.
    ``spec`` is the changed workload, ``answer`` the verdict on it."""

    kind: RepairKind
    value: str
    label: str
    spec: WorkloadSpec
    answer: Answer = Answer.NOW

    @property
    def change(self) -> str:
        return f"{self.kind}={self.value}"


def find_repairs(
    spec: WorkloadSpec,
    ground: Ground,
    fit: Fit,
    choices: Iterable[ComputeChoice] = (),
    *,
    without: Set[RepairKind] = frozenset(),
    is_refused: Callable[[WorkloadSpec], bool] = lambda _: False,
) -> list[Repair]:
    """Repairs that let the gang start now, or, if it never would, some day. ``without`` excludes
    kinds of repair, ``is_refused`` changes that the cluster would refuse."""
    if fit.answer not in {Answer.LATER, Answer.NEVER}:
        return []
    counted: Counter[RepairKind] = Counter()
    now: list[Repair] = []
    later: list[Repair] = []
    for variant in variants(spec, ground, fit, choices, without=without):
        answer = predict_fit(variant.spec, ground).answer
        starts = answer is Answer.NOW and counted[variant.kind] < MAX_OF_A_KIND
        may_start = fit.answer is Answer.NEVER and _may_start(answer, ground)
        if not (starts or may_start) or is_refused(variant.spec):
            continue
        if starts:
            counted[variant.kind] += 1
            now.append(variant)
        else:
            repair = Repair(variant.kind, variant.value, variant.label, variant.spec, answer)
            later.append(repair)
    return (now or later)[:MAX_REPAIRS]


def _may_start(answer: Answer, ground: Ground) -> bool:
    """Whether a gang starts some day, as far as anybody but its queue can say."""
    decided_by_queue = answer is Answer.UNKNOWN and ground.queue is not None
    return answer is Answer.LATER or decided_by_queue


def variants(
    spec: WorkloadSpec,
    ground: Ground,
    fit: Fit,
    choices: Iterable[ComputeChoice] = (),
    *,
    without: Set[RepairKind] = frozenset(),
) -> Iterator[Repair]:
    """All possible changes, the smallest first."""
    kinds = {
        RepairKind.POOL: _pool_repairs(spec, ground),
        RepairKind.TYPE: _type_repairs(spec, ground),
        RepairKind.SHAPE: _shape_repairs(spec, ground),
        RepairKind.COMPUTE: _compute_repairs(spec, choices),
        RepairKind.WORKERS: _worker_repairs(spec, ground, fit),
    }
    yield from chain.from_iterable(its for kind, its in kinds.items() if kind not in without)


def _worker_repairs(spec: WorkloadSpec, ground: Ground, fit: Fit) -> Iterator[Repair]:
    workers = fit.largest or 0
    if ground.queue:
        workers = workers_within_maximum(spec, ground.queue)
    if max(spec.min_replicas or 1, 1) <= workers < spec.num_workers:
        smaller = spec.model_copy(update={"num_workers": workers})
        yield Repair(RepairKind.WORKERS, str(workers), _workers_in_words(workers), smaller)


def _shape_repairs(spec: WorkloadSpec, ground: Ground) -> Iterator[Repair]:
    """The same number of GPUs on fewer larger or more smaller pods, the closest shape first. A
    pod's CPU and memory scale with its GPUs."""
    compute = spec.worker.compute
    each = compute.gpu_devices_request
    processes = max(spec.slots_per_worker, spec.processes_per_pod or 1)
    fixed = not spec.kind.is_gang or spec.is_elastic or processes > 1
    if not each or compute.gpu_request_type or fixed:
        return
    beside = int(spec.master_replica == spec.worker)  # 1 if the master is like the workers
    total = (spec.num_workers + beside) * each
    most = max((len(group.whole.devices) for group in ground.groups), default=0)
    sizes = [size for size in range(1, most + 1) if size != each and total % size == 0]
    for size in sorted(sizes, key=lambda size: abs(log(size / each)))[:MAX_TRIES]:
        workers = total // size - beside
        if 1 <= workers <= MAX_WORKERS:
            worker = spec.worker.model_copy(update={"compute": _scale_compute(compute, size)})
            other = spec.model_copy(update={"num_workers": workers, "worker": worker})
            label = f"{_workers_in_words(workers)} × {size} GPU{'s' if size > 1 else ''}"
            yield Repair(RepairKind.SHAPE, f"{workers}x{size}", label, other)


def _workers_in_words(count: int) -> str:
    return f"{count} worker{'s' if count > 1 else ''}"


def _scale_compute(compute: Compute, gpus: int) -> Compute:
    factor = gpus / compute.gpu_devices_request
    limit = compute.cpu_core_limit
    memory_limit = compute.cpu_memory_limit
    return compute.model_copy(
        update={
            "gpu_devices_request": gpus,
            "cpu_core_request": min(round(compute.cpu_core_request * factor, 3), 1024),
            "cpu_core_limit": None if limit is None else min(round(limit * factor, 3), 1024),
            "cpu_memory_request": _scale_quantity(compute.cpu_memory_request, factor),
            "cpu_memory_limit": None
            if memory_limit is None
            else _scale_quantity(memory_limit, factor),
        }
    )


def _scale_quantity(text: str, factor: float) -> str:
    """A scaled quantity in the largest unit that keeps it an integer."""
    size = max(int(to_bytes(text) * factor), 1)
    for unit in ("Gi", "G", "Mi", "M", "Ki", "k"):
        if size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)


def _pool_repairs(spec: WorkloadSpec, ground: Ground) -> Iterator[Repair]:
    if not spec.node_pools:
        return
    pools = Counter(group.traits.pool for group in ground.groups for _ in range(group.nodes))
    for pool, _ in pools.most_common(MAX_TRIES):
        if pool not in spec.node_pools:
            other = spec.model_copy(update={"node_pools": (pool,)})
            yield Repair(RepairKind.POOL, pool, f"Node pool {pool}", other)


def _type_repairs(spec: WorkloadSpec, ground: Ground) -> Iterator[Repair]:
    if not spec.worker.node_type:
        return
    types: Counter[str] = Counter()
    for traits, groups in ground.by_traits.items():
        if name := traits.label.get(NODE_TYPE):
            types[name] += sum(group.nodes for group in groups)
    for name, _ in types.most_common(MAX_TRIES):
        if name != spec.worker.node_type:
            master = spec.master and spec.master.model_copy(update={"node_type": name})
            worker = spec.worker.model_copy(update={"node_type": name})
            other = spec.model_copy(update={"worker": worker, "master": master})
            yield Repair(RepairKind.TYPE, name, f"Node type {name}", other)


def _compute_repairs(spec: WorkloadSpec, choices: Iterable[ComputeChoice]) -> Iterator[Repair]:
    """Other compute resources, the closest first. One without GPUs does not replace one
    with GPUs."""
    asks = spec.worker.compute
    fitting = [
        choice
        for choice in choices
        if choice.compute != asks and bool(choice.compute.gpus()) == bool(asks.gpus())
    ]
    fitting.sort(key=lambda choice: -choice.compute.gpus())
    for choice in fitting[:MAX_TRIES]:
        worker = spec.worker.model_copy(update={"compute": choice.compute})
        other = spec.model_copy(update={"worker": worker})
        yield Repair(RepairKind.COMPUTE, choice.key, f"Compute resource {choice.name}", other)
