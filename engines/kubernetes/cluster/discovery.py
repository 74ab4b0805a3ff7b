"""Discover what a cluster offers: frameworks, classes, schedulers."""

import re
from collections.abc import Callable, Iterable, Mapping

from engines.base import (
    Capabilities,
    Claim,
    EngineRefused,
    EngineUnavailable,
    FrameworkSupport,
    Manifest,
)
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.cluster import queues
from engines.kubernetes.cluster.local_queues import local_queues
from engines.kubernetes.jobs import (
    KAI,
    KAI_GROUP,
    KINDS,
    PLAIN_JOB,
    PYTORCH,
    WITHOUT_OPERATOR,
    JobKind,
    is_suspended,
)
from engines.kubernetes.kueue.names import QUEUE_NAME, served_version
from engines.kubernetes.labels import JOB_NAME, WORKLOAD
from spec.formats.stored import as_mapping
from spec.framework import Framework
from spec.parts.scheduling import Preemptibility
from spec.problems.causes import CauseKind

TOPOLOGIES = "kai.scheduler/v1alpha1"
QUEUES = "queues"
POD_GROUP_SCHEMAS = f"/openapi/v3/apis/{KAI_GROUP}/v2alpha2"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SERVICES = "/api/v1/services"
CLAIMS = "/api/v1/persistentvolumeclaims"
CONFIG_MAPS = "/api/v1/configmaps"
NOT_OURS = f"!{WORKLOAD}"
#: Excludes the Services that operators create for each rank: they have no node ports, and there may
#: be thousands.
NEITHER_OURS_NOR_RANKS = f"{NOT_OURS},!{JOB_NAME}"
MOST_NAMES = 1000  # most claims, and most ConfigMaps, that are remembered
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
TRIAL_NAME = "trainyard-check"
TRIAL_NAMESPACE = "default"  # a namespace that every cluster has; nothing is created there
Installed = Mapping[str, set[str]]  # versions by the plural of a kind
NO_OPERATOR = "Kubernetes itself"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def capabilities(api: Api, prefix: str = "") -> Capabilities:
    """``prefix`` starts the names of projects' namespaces."""
    groups = api.get("/apis")["groups"]
    installed = installed_versions(api, groups)
    kai = any(group["name"] == KAI_GROUP for group in groups)
    classes = _list_if_allowed(lambda: storage_classes(api))
    kueue = served_version(groups)
    return Capabilities(
        frameworks=tuple(framework_support(framework, installed) for framework in Framework),
        queues=True,
        schedulers=("default-scheduler", KAI) if kai else ("default-scheduler",),
        storage_classes=_names(classes),
        default_storage_class=next(iter(_names(filter(is_default, classes))), ""),
        priority_classes=_priority_classes(api),
        terminal=True,
        topologies=topologies(api),
        quotas=kai and QUEUES in served_resources(api, queues.API),
        semi_preemptible=kai and has_semi_preemption(api),
        node_ports=node_ports(
            _list_if_allowed(
                lambda: list(api.all_items(SERVICES, labelSelector=NEITHER_OURS_NOR_RANKS))
            )
        ),
        claims=claims(api, prefix),
        config_maps=config_maps(api, prefix),
        kueue=kueue,
        local_queues=local_queues(api, kueue, prefix) if kueue else None,
    )


def has_semi_preemption(api: Api) -> bool:
    """Whether KAI knows semi-preemptible workloads, by the schema of its PodGroups: an earlier
    version takes the word for none of its own, and preempts the workload as a whole."""
    try:
        schemas = api.get(POD_GROUP_SCHEMAS)["components"]["schemas"]
    except (EngineRefused, KeyError):
        return False
    words = (as_mapping(_spec_of(schema).get("preemptibility")) for schema in schemas.values())
    return any(Preemptibility.SEMI_PREEMPTIBLE in word.get("enum", ()) for word in words)


def _spec_of(schema: Manifest) -> Manifest:
    """The properties of an object's spec, by the schema of the object."""
    spec = as_mapping(as_mapping(schema.get("properties")).get("spec"))
    return as_mapping(spec.get("properties"))


def existing_job_kinds(api: Api) -> list[JobKind]:
    """The kinds of job that may exist on this cluster."""
    versions = {kind.api_version for kind in KINDS.values()}
    plurals = {version: served_resources(api, version) for version in versions}
    here = [kind for kind in KINDS.values() if kind.plural in plurals[kind.api_version]]
    return [*here, PLAIN_JOB]


def parse_release(version: Manifest) -> tuple[int, ...]:
    """``(1, 20)``; distributions write ``20+``."""
    return tuple(int(re.sub(r"\D.*", "", version[part]) or 0) for part in ("major", "minor"))


def installed_versions(api: Api, groups: list[Manifest]) -> Installed:
    """The installed versions of each of Kubeflow's kinds, by plural."""
    installed: dict[str, set[str]] = {}
    for group in groups:
        if group["name"] == PYTORCH.group:
            for version in group["versions"]:
                path = version["groupVersion"]
                for plural in served_resources(api, path):
                    installed.setdefault(plural, set()).add(path)
    return installed


def served_resources(api: Api, group_version: str) -> list[str]:
    """The resources of an API version; none if it is not served."""
    try:
        return [item["name"] for item in api.get(f"/apis/{group_version}")["resources"]]
    except NotFound:
        return []


def framework_support(framework: Framework, installed: Installed) -> FrameworkSupport:
    """Whether a framework runs here, given the result of :func:`installed_versions`."""
    kind = KINDS.get(framework)
    if kind is None:
        why = f"Trainyard runs no {framework.label} on Kubernetes."
        return FrameworkSupport(framework, available=False, why=why)
    versions = installed.get(kind.plural, set())
    if kind.api_version not in versions and framework in WITHOUT_OPERATOR:
        return FrameworkSupport(
            framework,
            available=True,
            operator=NO_OPERATOR,
            version=PLAIN_JOB.api_version,
            is_plain=True,
        )
    if kind.api_version in versions:
        return FrameworkSupport(
            framework, available=True, operator=kind.operator, version=kind.api_version
        )
    if versions:
        why = (
            f"The cluster has {kind.name} {', '.join(sorted(versions))} and Trainyard writes "
            f"{kind.api_version}. Install the {kind.operator}, which brings it."
        )
    else:
        why = f"The cluster has no {kind.name}. Install the {kind.operator}, which brings it."
    return FrameworkSupport(framework, available=False, why=why)


def webhook_failure(api: Api, kind: JobKind) -> str:
    """Why such a job cannot be created now, in words, found by a dry run through its operator's
    webhook. Empty if the webhook answers, even with a refusal."""
    try:
        _try_to_create(api, kind)
    except EngineRefused:
        return ""
    except EngineUnavailable as error:
        if error.cause is None:
            raise
        if error.cause.kind is CauseKind.QUOTA:  # an answer, in which the webhook had its part
            return ""
        return f"{error.cause.title}. {error.cause.todo}"
    return ""


def is_queued_by_kueue(api: Api, kind: JobKind) -> bool | None:
    """Whether Kueue manages such jobs, found by a dry run: it then suspends a job that names a
    queue. ``None`` if the cluster refuses the job."""
    try:
        return is_suspended(_try_to_create(api, kind, labels={QUEUE_NAME: TRIAL_NAME}))
    except (EngineRefused, EngineUnavailable):
        return None


def _try_to_create(api: Api, kind: JobKind, *, labels: Mapping[str, str] | None = None) -> Manifest:
    """Create a job with one pod in a dry run, and return it as the cluster would store it."""
    template = {"spec": {"containers": [{"name": kind.container, "image": "none"}]}}
    spec: Manifest = {"template": {"spec": {"restartPolicy": "Never", **template["spec"]}}}
    if not kind.is_plain:
        worker = {"replicas": 1, "restartPolicy": "Never", "template": template}
        spec = {kind.replicas: {"Worker": worker}}
    meta = {"name": TRIAL_NAME, "namespace": TRIAL_NAMESPACE, "labels": dict(labels or {})}
    job = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": meta, "spec": spec}
    return api.create(kind.path(TRIAL_NAMESPACE, "").rstrip("/"), job, dryRun="All")


def storage_classes(api: Api) -> list[Manifest]:
    """All storage classes, the default one first. ``EngineRefused`` if we may not list them."""
    return sorted(api.items(STORAGE_CLASSES), key=lambda one: not is_default(one))


def topologies(api: Api) -> tuple[str, ...] | None:
    """KAI's topologies; ``None`` if it has none, or we may not list them."""
    if "topologies" not in served_resources(api, TOPOLOGIES):
        return None
    try:
        return _names(api.items(f"/apis/{TOPOLOGIES}/topologies"))
    except EngineRefused:
        return None


def node_ports(services: list[Manifest]) -> tuple[int, ...]:
    """Node ports used by Services that are not Trainyard's, whose own come and go with
    workloads."""
    held = set[int]()
    for service in services:
        spec = service.get("spec") or {}
        held |= {port.get("nodePort", 0) for port in spec.get("ports") or ()}
        held.add(spec.get("healthCheckNodePort", 0))
    return tuple(sorted(held - {0}))


def claims(api: Api, prefix: str) -> tuple[Claim, ...] | None:
    """Claims in projects' namespaces, without those of workloads. ``None`` if we may not list them,
    or there are too many to remember."""
    free: list[Claim] = []
    try:
        for item in api.all_items(CLAIMS, labelSelector=NOT_OURS):
            meta = item["metadata"]
            spec = item.get("spec") or {}
            if not meta["namespace"].startswith(prefix):
                continue
            if len(free) == MOST_NAMES:
                return None
            size = (spec.get("resources") or {}).get("requests", {}).get("storage", "")
            modes = ", ".join(spec.get("accessModes") or ())
            free.append(Claim(meta["namespace"], meta["name"], size, modes))
    except EngineRefused:
        return None
    return tuple(free)


def config_maps(api: Api, prefix: str) -> tuple[str, ...] | None:
    """Names of ConfigMaps in projects' namespaces; their content is not read. ``None`` if we may
    not list them, or there are too many to remember."""
    names: list[str] = []
    try:
        for item in api.all_metadata(CONFIG_MAPS):
            space = item["metadata"]["namespace"]
            name = item["metadata"]["name"]
            if not space.startswith(prefix):
                continue
            if len(names) == MOST_NAMES:
                return None
            names.append(f"{space}/{name}")
    except EngineRefused:
        return None
    return tuple(names)


def is_default(storage_class: Manifest) -> bool:
    return (storage_class["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"


def _names(items: Iterable[Manifest]) -> tuple[str, ...]:
    return tuple(item["metadata"]["name"] for item in items)


def _priority_classes(api: Api) -> tuple[str, ...]:
    names = _names(_list_if_allowed(lambda: api.items(PRIORITY_CLASSES)))
    return tuple(name for name in names if not name.startswith("system-"))


def _list_if_allowed(look: Callable[[], list[Manifest]]) -> list[Manifest]:
    """The result, or an empty list if we may not look: people then have fewer choices."""
    try:
        return look()
    except EngineRefused:
        return []
