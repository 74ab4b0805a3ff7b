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
    """Yield a problem if no node has the node type of the spec, which Slurm calls a feature. That
    of a batch script may be an expression, and is judged with its partition."""
    if spec.batch_script:
        return
    node_type = spec.worker.node_type
    features = _features(cluster) if node_type else set()
    if features and node_type not in features:
        offered = name_first_three(sorted(features))
        text = f"no node has the feature {str(node_type)!r}; they have {offered}"
        yield Problem(parse_path("worker.nodeType"), text)


def _features(cluster: "Cluster") -> set[str]:
    features: set[str] = set()
    for labels in cluster.nodes.values_list("labels_json", flat=True):
        features |= {key.removeprefix(FEATURE) for key in labels if key.startswith(FEATURE)}
    return features


def node_types(cluster: "Cluster") -> list[str]:
    label = KT(f"labels_json__{NODE_TYPE}")
    return sorted(set(cluster.nodes.values_list(label, flat=True).distinct()) - {None})


def known_names(cluster: "Cluster") -> dict[str, list[str]]:
    return {"node_types": node_types(cluster)}
