"""What an engine is handed to start a workload."""

import json
from dataclasses import replace

import yaml

from assets.credential.values import MissingValue, values_for
from clusters.connections import engine_for, site_of
from clusters.models import Cluster
from core.fields import Unreadable
from engines.base import EngineError, EngineRefused, Launch
from spec.errors import SpecError
from workloads.models import Workload

AGAIN = "Copy & edit starts it again."


def launch_of(workload: Workload) -> Launch:
    """With the values of its credentials, for the engine and nobody else. ``EngineRefused`` where
    one cannot be had, or the spec was written under other rules."""
    launch = shown_launch_of(workload)
    try:
        return replace(launch, secrets=values_for(launch.spec))
    except (MissingValue, Unreadable) as error:
        raise EngineRefused(f"{error} {AGAIN}") from error


def shown_launch_of(workload: Workload) -> Launch:
    """Without those values."""
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
