"""What an engine is handed to start a workload."""

import json

import yaml

from clusters.connections import engine_for, site_of
from clusters.models import Cluster
from engines.base import EngineError, EngineRefused, Launch
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
        ran=workload.running_seconds,
    )


def manifest(cluster: Cluster, launch: Launch) -> str:
    """What the engine hands over for a launch, as YAML. Made here: no cluster is asked."""
    try:
        rendered = engine_for(cluster).render(launch)
    except EngineError as error:
        return f"# {error}"
    return yaml.safe_dump_all(
        json.loads(json.dumps(rendered, default=str)), sort_keys=False, width=100
    )


def _devices(workload: Workload) -> dict[int, tuple[int, ...]]:
    """What admission gave each rank; nothing where the cluster chooses."""
    if workload.cluster.capabilities.queues:
        return {}
    return {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
