"""Check names in a spec against what the cluster is known to have, and node ports against those in
use.

Only plans are checked: a stopped workload may get back by then what was removed. Secrets are not
checked, because Trainyard may not read them. Claims and ConfigMaps are offered, and cause warnings
instead of problems, because they may be created before the cluster is checked again.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from django.db.models.fields.json import KT
from pydantic import ValidationError

from clusters.kinds.kubernetes.settings import KubernetesSettings
from core.words import name_first_three
from engines.base import Claim, Launch
from engines.kubernetes.names import project_namespace
from spec.parts.scheduling import NODE_TYPE
from spec.problems.errors import Problem, parse_path
from spec.tools import tools_of
from spec.workload import Replica, WorkloadSpec

CLAIM = "claim"
CONFIG_MAP = "ConfigMap"

if TYPE_CHECKING:
    from clusters.models import Cluster


def unknown_names(cluster: "Cluster", spec: WorkloadSpec) -> Iterator[Problem]:
    has = cluster.capabilities
    topologies = has.topologies
    if spec.topology and topologies is not None and spec.topology.name not in topologies:
        text = f"the cluster has no topology {spec.topology.name!r}; {_offer_in_words(topologies)}"
        yield Problem(parse_path("topology.name"), text)
    replicas = {"worker": spec.worker, "master": spec.master}
    given = {role: replica for role, replica in replicas.items() if replica}
    for role, replica in given.items():
        yield from _unknown_storage_classes(role, replica, has.storage_classes)
    for tool in tools_of(spec):
        if (port := tool.connection.node_port) and port in has.node_ports:
            yield Problem(
                (*parse_path(tool.field), "nodePort"),
                f"{port} is held by a Service outside Trainyard; enter another, or leave it empty "
                "for any free one",
            )
    wanted = {role: replica.node_type for role, replica in given.items() if replica.node_type}
    types = node_types(cluster) if wanted else []
    for role, node_type in wanted.items():
        if types and node_type not in types:
            yield Problem(
                parse_path(f"{role}.nodeType"),
                f"no node of the cluster has the type {str(node_type)!r}; "
                f"{_offer_in_words(types)}. "
                "Where nodes are added on demand, a node pool with the label "
                f"{NODE_TYPE}={node_type} makes the type known",
            )


def _unknown_storage_classes(
    role: str, replica: Replica, classes: Iterable[str]
) -> Iterator[Problem]:
    """Unknown storage classes. If we may not list classes, none are known, and nothing is
    checked."""
    there = list(classes)
    for number, claim in enumerate(replica.storage.pvc):
        info = claim.claim_info
        name = info.storage_class if info and not info.without_class else None
        if name and there and name not in there:
            place = f"{role}.storage.pvc[{number}].claimInfo.storageClass"
            text = f"the cluster has no storage class {str(name)!r}; {_offer_in_words(there)}"
            yield Problem(parse_path(place), text)


def node_types(cluster: "Cluster") -> list[str]:
    """Node types of its nodes and node pools; none if no node has the label."""
    label = KT(f"labels_json__{NODE_TYPE}")
    types = set(cluster.nodes.values_list(label, flat=True).distinct()) - {None}
    pools = cluster.pools.filter(label_key=NODE_TYPE).values_list("label_value", flat=True)
    return sorted(types | set(pools)) if types else []


def known_names(cluster: "Cluster") -> dict[str, list[str]]:
    """Names to choose from, as far as the cluster reported them."""
    return {
        "node_types": node_types(cluster),
        "topologies": sorted(cluster.capabilities.topologies or ()),
    }


def missing_objects(cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
    """Warnings about missing claims and ConfigMaps, for which pods would wait."""
    for role, replica in (("worker", launch.spec.worker), ("master", launch.spec.master)):
        for place, kind, name in _referenced_objects(replica) if replica else ():
            names = _names_of_kind(cluster, launch.handle.project, kind)
            if names is not None and name not in names:
                text = (
                    f"the project's namespace has no {kind} {name!r} yet; {_offer_in_words(names)}"
                )
                yield Problem(
                    parse_path(f"{role}.{place}"), f"{text}. Pods wait until there is one"
                )


def _names_of_kind(cluster: "Cluster", project: str, kind: str) -> list[str] | None:
    if kind == CONFIG_MAP:
        return config_maps(cluster, project)
    its_claims = claims(cluster, project)
    return None if its_claims is None else [it.name for it in its_claims]


def _referenced_objects(replica: Replica) -> Iterator[tuple[str, str, str]]:
    """Path, kind and name of objects that must exist in the project's namespace."""
    for number, claim in enumerate(replica.storage.pvc):
        if claim.existing_pvc and claim.claim_name:
            yield f"storage.pvc[{number}].claimName", CLAIM, claim.claim_name
    for number, volume in enumerate(replica.storage.config_map_volume):
        if volume.config_map:
            yield f"storage.configMapVolume[{number}].configMap", CONFIG_MAP, volume.config_map
    for number, variable in enumerate(replica.environment_variables):
        if variable.config_map:
            place = f"environmentVariables[{number}].configMap.name"
            yield place, CONFIG_MAP, variable.config_map.name


def claims(cluster: "Cluster", project: str) -> list[Claim] | None:
    """Claims that the project's pods can mount."""
    claims = cluster.capabilities.claims
    namespace = _namespace(cluster, project)
    if claims is None or namespace is None:
        return None
    return [claim for claim in claims if claim.namespace == namespace]


def config_maps(cluster: "Cluster", project: str) -> list[str] | None:
    """ConfigMaps that the project's pods can mount."""
    names = cluster.capabilities.config_maps
    namespace = _namespace(cluster, project)
    if names is None or namespace is None:
        return None
    return [name.partition("/")[2] for name in names if name.startswith(f"{namespace}/")]


def _namespace(cluster: "Cluster", project: str) -> str | None:
    try:
        return project_namespace(project, KubernetesSettings.of(cluster).namespace_prefix)
    except ValidationError:  # nothing can be launched until they are corrected
        return None


def _offer_in_words(names: Iterable[str]) -> str:
    listed = sorted(names)
    return f"it has {name_first_three(listed)}" if listed else "it has none"
