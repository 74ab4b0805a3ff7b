"""Grounds and gangs for tests of the verdict: plain numbers, no database."""

from typing import Any

from engines.nodes import Taint
from spec.formats import documents
from spec.workload import WorkloadSpec
from workloads.scheduling.fit.judge import Ground
from workloads.scheduling.fit.nodes import NodeGroup, NodeTraits
from workloads.scheduling.fit.packing import Free

GIB = 1024**3


def gang(workers: int = 1, gpus: int = 1, *, master: bool = False, **worker: Any) -> WorkloadSpec:
    """Return a gang whose pods request ``gpus`` whole GPUs, a core and 1 GiB each. ``worker`` are
    fields of the document."""
    compute = {"gpuDevicesRequest": gpus, "cpuCoreRequest": 1, "cpuMemoryRequest": "1Gi"}
    whole = worker.pop("whole", {})
    return documents.load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": "workers_and_master" if master else "workers_only",
            "numWorkers": workers,
            "worker": {"image": "x:1", "compute": compute} | worker,
            **whole,
        }
    )


def nodes(
    count: int = 1,
    gpus: int = 4,
    free: int | None = None,
    *,
    cpu: float = 32,
    pool: str = "default",
    labels: dict[str, str] | None = None,
    taint: str = "",
    **more: Any,
) -> NodeGroup:
    """Return a group of equal nodes with ``gpus`` devices each, of which ``free`` are free,
    or all."""
    left = gpus if free is None else free
    return NodeGroup(
        count,
        whole=Free(cpu, 256 * GIB, (1.0,) * gpus),
        free=Free(cpu, 256 * GIB, (1.0,) * left),
        traits=NodeTraits(
            pool,
            tuple((labels or {}).items()),
            (Taint(taint, "", "NoSchedule"),) if taint else (),
            **more,
        ),
    )


def ground(*groups: NodeGroup, **more: Any) -> Ground:
    """Return a ground with these groups of nodes."""
    return Ground(groups, "big", **more)
