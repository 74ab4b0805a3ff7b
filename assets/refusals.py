"""Find assets that a cluster would refuse whatever else the workload says."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError

from clusters import connections
from clusters.models import Cluster
from engines.base import Handle
from spec.draft import Values
from spec.kind import WorkloadKind
from spec.workload import Replica, WorkloadSpec

#: An image and a command, which every cluster accepts and the workload could add itself.
PROGRAM = {"image": "none", "command": "true"}


def refusals(
    layer: Callable[[Any], Values], keys: Collection[str]
) -> Callable[[Iterable[Any], Cluster | None], Mapping[UUID, str]]:
    """Make the ``issues`` function of a kind whose assets set ``keys`` that a workload cannot
    override. It judges for ``cluster``, or for each asset where it belongs."""

    def issues(assets: Iterable[Any], cluster: Cluster | None) -> Mapping[UUID, str]:
        refused: dict[UUID, str] = {}
        for asset in assets:
            values = layer(asset)
            if not isinstance(values, dict):
                continue  # current rules do not accept it, as its card says
            its = {key: value for key, value in values.items() if key in keys and value}
            if its and (at := cluster or asset.cluster) and (why := _refused(its, at)):
                refused[asset.pk] = why
        return refused

    return issues


def _refused(layer: Values, cluster: Cluster) -> str:
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
