"""Check names in a spec against those that the cluster is known to have, and node ports against
those in use.

Only plans are checked: what a stopped workload needs may be created again before it runs. Secrets
are not checked, because Trainyard may not read them. Missing claims and ConfigMaps cause warnings
instead of problems, because they may be created before the cluster is checked again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from django.db.models.fields.json import KT
from pydantic import ValidationError

from clusters.kinds.kubernetes.settings import KubernetesSettings
from core.words import name_first_three
from engines.base import Claim, Launch
from engines.kubernetes.manifests.owned_labels import queue_name
from engines.kubernetes.names import project_namespace
from engines.local_queues import DEFAULT_QUEUE, LocalQueue
from spec.parts.scheduling import NODE_TYPE
from spec.problems.causes import Cause, CauseKind
from spec.problems.errors import Problem, parse_path
from spec.tools import served_tools
from spec.workload import Replica, WorkloadSpec

CLAIM = "claim"
CONFIG_MAP = "ConfigMap"
Namespaced = TypeVar("Namespaced", Claim, LocalQueue)

if TYPE_CHECKING:
    from clusters.models import Cluster


def unknown_names(cluster: "Cluster", spec: WorkloadSpec) -> Iterator[Problem]:
    """Yield the problems of names that the cluster does not have, and of node ports in use."""
    capabilities = cluster.capabilities
    topologies = capabilities.topologies
    if spec.topology and topologies is not None and spec.topology.name not in topologies:
        text = f"the cluster has no topology {spec.topology.name!r}; {_offer_in_words(topologies)}"
        yield Problem(parse_path("topology.name"), text)
    replicas = {role.path: role.replica for role in spec.described_roles}
    for role, replica in replicas.items():
        yield from _unknown_storage_classes(role, replica, capabilities.storage_classes)
    for tool in served_tools(spec):
        port = tool.connection.node_port
        if port and port in capabilities.node_ports:
            yield Problem(
                (*parse_path(tool.field), "nodePort"),
                f"{port} is held by a Service outside Trainyard; enter another, or leave it empty "
                "for any free one",
            )
    wanted = {role: replica.node_type for role, replica in replicas.items() if replica.node_type}
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
    """Yield the problems of unknown storage classes. Without permission to list classes, none are
    known, and nothing is checked."""
    known = list(classes)
    for number, claim in enumerate(replica.storage.pvc):
        info = claim.claim_info
        name = info.storage_class if info and not info.without_class else None
        if name and known and name not in known:
            path = f"{role}.storage.pvc[{number}].claimInfo.storageClass"
            text = f"the cluster has no storage class {str(name)!r}; {_offer_in_words(known)}"
            yield Problem(parse_path(path), text)


def node_types(cluster: "Cluster") -> list[str]:
    """Return the node types of the cluster's nodes and node pools; none if no node has the
    label."""
    label = KT(f"labels_json__{NODE_TYPE}")
    types = set(cluster.nodes.values_list(label, flat=True).distinct()) - {None}
    pools = cluster.pools.filter(label_key=NODE_TYPE).values_list("label_value", flat=True)
    return sorted(types | set(pools)) if types else []


def known_names(cluster: "Cluster") -> dict[str, list[str]]:
    """Return names to choose from, as far as the cluster reported them."""
    return {
        "node_types": node_types(cluster),
        "topologies": sorted(cluster.capabilities.topologies or ()),
    }


def missing_objects(cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
    """Yield warnings about missing claims and ConfigMaps, for which pods would wait."""
    for path, kind, name, names in _missing_references(cluster, launch):
        text = f"the project's namespace has no {kind} {name!r} yet; {_offer_in_words(names)}"
        yield Problem(parse_path(path), f"{text}. Pods wait until there is one")


def cause_of_missing_object(cluster: "Cluster", launch: Launch) -> Cause | None:
    """Return what pods would wait for that does not exist yet: the first missing claim or
    ConfigMap."""
    for _, kind, name, _ in _missing_references(cluster, launch):
        return Cause(
            CauseKind.STORAGE if kind == CLAIM else CauseKind.MISSING,
            f"The {kind} {name} is missing",
            f"Create the {kind} in the project's namespace, or choose another.",
        )
    return None


def _missing_references(
    cluster: "Cluster", launch: Launch
) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield path, kind and name of each object that the project's namespace lacks, and the names of
    those that it has."""
    for role in launch.spec.described_roles:
        for path, kind, name in _referenced_objects(role.replica):
            names = _names_of_kind(cluster, launch.handle.project, kind)
            if names is not None and name not in names:
                yield f"{role.path}.{path}", kind, name, names


def _names_of_kind(cluster: "Cluster", project: str, kind: str) -> list[str] | None:
    if kind == CONFIG_MAP:
        return config_maps(cluster, project)
    project_claims = claims(cluster, project)
    return None if project_claims is None else [claim.name for claim in project_claims]


def _referenced_objects(replica: Replica) -> Iterator[tuple[str, str, str]]:
    """Yield path, kind and name of the objects that must exist in the project's namespace."""
    for number, claim in enumerate(replica.storage.pvc):
        if claim.existing_pvc and claim.claim_name:
            yield f"storage.pvc[{number}].claimName", CLAIM, claim.claim_name
    for number, volume in enumerate(replica.storage.config_map_volume):
        if volume.config_map:
            yield f"storage.configMapVolume[{number}].configMap", CONFIG_MAP, volume.config_map
    for number, variable in enumerate(replica.environment_variables):
        if variable.config_map:
            path = f"environmentVariables[{number}].configMap.name"
            yield path, CONFIG_MAP, variable.config_map.name


def unready_queue(cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
    """Yield a warning about a queue that the project's namespace does not have, or that starts
    nothing now: the workload would wait for it."""
    name = queue_name(launch.spec)
    queues = local_queues(cluster, launch.handle.project)
    if not name or queues is None:
        return
    queue = next((queue for queue in queues if queue.name == name), None)
    if queue is None:
        offer = _offer_in_words(queue.name for queue in queues)
        text = (
            f"the project's namespace has no LocalQueue {name!r} yet; {offer}. The workload waits "
            "until there is one"
        )
        yield Problem(("queue",), text)
    elif queue.why_inactive:
        text = f"LocalQueue {name} starts nothing now: {queue.why_inactive.rstrip('.')}"
        yield Problem(("queue",), text)


def starting_queue(cluster: "Cluster", project: str, spec: WorkloadSpec) -> LocalQueue | None:
    """Return the LocalQueue that decides when a workload starts. Kueue puts a job that names none
    into the one called ``default``, if the namespace has it."""
    if not cluster.capabilities.kueue:
        return None
    name = queue_name(spec)
    for queue in local_queues(cluster, project) or ():
        if queue.name == (name or DEFAULT_QUEUE):
            return queue
    namespace = _namespace(cluster, project) or ""
    return LocalQueue(namespace, name, cluster_queue="") if name else None


def local_queues(cluster: "Cluster", project: str) -> list[LocalQueue] | None:
    """Return the LocalQueues that can start the project's jobs; ``None`` if they are unknown."""
    return _of_project(cluster.capabilities.local_queues, cluster, project)


def claims(cluster: "Cluster", project: str) -> list[Claim] | None:
    """Return the claims that the project's pods can mount; ``None`` if they are unknown."""
    return _of_project(cluster.capabilities.claims, cluster, project)


def _of_project(
    found: Sequence[Namespaced] | None, cluster: "Cluster", project: str
) -> list[Namespaced] | None:
    namespace = _namespace(cluster, project)
    if found is None or namespace is None:
        return None
    return [one for one in found if one.namespace == namespace]


def config_maps(cluster: "Cluster", project: str) -> list[str] | None:
    """Return the ConfigMaps that the project's pods can mount; ``None`` if they are unknown."""
    names = cluster.capabilities.config_maps
    namespace = _namespace(cluster, project)
    if names is None or namespace is None:
        return None
    return [name.partition("/")[2] for name in names if name.startswith(f"{namespace}/")]


def _namespace(cluster: "Cluster", project: str) -> str | None:
    try:
        return project_namespace(project, KubernetesSettings.of(cluster).namespace_prefix)
    except ValidationError:  # nothing can be launched until the settings are corrected
        return None


def _offer_in_words(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return f"it has {name_first_three(ordered)}" if ordered else "it has none"
