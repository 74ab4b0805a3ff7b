"""What an engine is handed to start a workload."""

from clusters.connections import site_of
from engines.base import EngineRefused, Launch
from spec.errors import SpecError
from workloads.models import Workload

AGAIN = "Copy & edit starts it again."


def launch_of(workload: Workload) -> Launch:
    """``EngineRefused`` where its spec was written under other rules."""
    try:
        spec = workload.spec
    except SpecError as error:
        raise EngineRefused(f"The spec is no longer valid: {error}. {AGAIN}") from error
    return Launch(
        handle=workload.handle,
        run=workload.run,
        spec=spec,
        submitted_by=workload.created_by.username if workload.created_by else "",
        gpus=_devices(workload),
        site=site_of(workload.cluster, spec),
    )


def _devices(workload: Workload) -> dict[int, tuple[int, ...]]:
    """What admission gave each rank; nothing where the cluster chooses."""
    if workload.cluster.capabilities.queues:
        return {}
    return {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
