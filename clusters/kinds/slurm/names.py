"""Check names in a spec against what the cluster is known to have."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models.fields.json import KT

from core.words import name_first_three
from engines.slurm.script.site import FEATURE
from spec.parts.scheduling import NODE_TYPE
from spec.problems.errors import Problem, parse_path
from spec.workload import WorkloadSpec

if TYPE_CHECKING:
    from clusters.models import Cluster


def unknown_names(cluster: "Cluster", spec: WorkloadSpec) -> Iterator[Problem]:
    wanted = spec.worker.node_type
    features = _features(cluster) if wanted else set()
    if wanted and features and wanted not in features:
        offered = name_first_three(sorted(features))
        text = f"no node has the feature {str(wanted)!r}; they have {offered}"
        yield Problem(parse_path("worker.nodeType"), text)


def _features(cluster: "Cluster") -> set[str]:
    labels = cluster.nodes.values_list("labels_json", flat=True)
    return {key.removeprefix(FEATURE) for each in labels for key in each if key.startswith(FEATURE)}


def node_types(cluster: "Cluster") -> list[str]:
    label = KT(f"labels_json__{NODE_TYPE}")
    return sorted(set(cluster.nodes.values_list(label, flat=True).distinct()) - {None})


def known_names(cluster: "Cluster") -> dict[str, list[str]]:
    return {"node_types": node_types(cluster)}
