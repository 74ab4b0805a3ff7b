"""Find assets that a cluster would refuse whatever else the workload says."""

from collections.abc import Collection, Iterable
from uuid import UUID, uuid4

from pydantic import ValidationError

from assets.asset import Asset
from clusters import connections
from clusters.models import Cluster
from clusters.withheld import PROGRAM
from engines.base import Handle
from spec.draft import Values
from spec.kind import WorkloadKind
from spec.workload import Replica, WorkloadSpec


def find_refused(
    layers: Iterable[tuple[Asset, Values]], keys: Collection[str], cluster: Cluster | None
) -> dict[UUID, str]:
    """Return the reasons by id of the assets that are refused on ``cluster``, or else where each
    belongs. ``keys`` of their layers are those that a workload cannot override."""
    reasons: dict[UUID, str] = {}
    for asset, layer in layers:
        if not isinstance(layer, dict):
            continue  # current rules do not accept it, as its card says
        values = {key: value for key, value in layer.items() if key in keys and value}
        asset_cluster = cluster or asset.cluster
        reason = _why_refused(values, asset_cluster) if values and asset_cluster else ""
        if reason:
            reasons[asset.pk] = reason
    return reasons


def _why_refused(layer: Values, cluster: Cluster) -> str:
    try:
        worker = Replica.model_validate(PROGRAM | layer)
    except ValidationError:
        return ""  # it is invalid, as its card says
    spec = WorkloadSpec(kind=WorkloadKind.TRAINING, worker=worker)
    handle = Handle(uuid4(), "asset", "project")
    problems = connections.complaints(cluster, handle, spec)
    return next(
        (
            it.message
            for it in problems
            if it.path[:1] == ("worker",) and it.path[1:2] and it.path[1] in layer
        ),
        "",
    )
