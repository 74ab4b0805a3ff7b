"""Check a cluster for what Trainyard needs. Each finding is a line for people."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.findings import CONNECTION, METERING, PERMISSIONS, SIGNED_IN, Finding, Level
from engines.kubernetes.client.api import Api, Denied
from engines.kubernetes.client.outage import NOT_AN_API_SERVER
from engines.kubernetes.cluster import discovery
from engines.kubernetes.cluster.local_queues import local_queues
from engines.kubernetes.cluster.nodes import Inventory
from engines.kubernetes.cluster.prefix import prefix_use
from engines.kubernetes.cluster.rbac import CORE, JOBS, RIGHTS, Right
from engines.kubernetes.cluster.reviews import refused_verbs
from engines.kubernetes.jobs import GPU, KAI_GROUP, KINDS, PLAIN_JOB
from engines.kubernetes.kueue.names import KUEUE, served_version
from engines.kubernetes.labels import PROJECT
from engines.kubernetes.objects import NAMESPACES, explain_taken_namespaces
from spec.framework import Framework

OLDEST = (1, 29)
REVIEW_OF_SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
METRICS = "metrics.k8s.io"
AT_ONCE = 8  # reviews
FRAMEWORKS = "Frameworks"
PREFIX = "Namespace prefix"
SCHEDULING = "Scheduling"
STORAGE = "Storage"
NODES = "Nodes"
PLAIN_FRAMEWORK = (
    "Runs as Jobs of Kubernetes itself. Elastic workers, and gangs that KAI starts together, need "
    "the Kubeflow training operator, which is not installed."
)
MOST_SHOWN = 10  # names in a finding


def findings(
    api: Api, inventory: Inventory, *, prefix: str = "", installation: str = ""
) -> tuple[Finding, ...]:
    """All findings, in the order in which to fix them. ``EngineUnavailable`` if there is no
    answer."""
    version = _version(api)
    groups = api.get("/apis")["groups"]
    jobs = discovery.installed_versions(api, groups)
    return (
        *_server(api, version),
        *_prefix(api, prefix, installation),
        *_permissions(api, {CORE, *(group["name"] for group in groups)}, jobs),
        *_frameworks(api, jobs),
        *_scheduling(groups),
        *_kueue(api, groups, jobs),
        *_local_queues(api, groups, prefix),
        *_storage(api),
        *_metrics(api, groups),
        *_nodes(inventory),
    )


def _version(api: Api) -> Manifest:
    """The server's version. ``EngineUnavailable`` if what answers is not a Kubernetes API
    server."""
    try:
        version = api.get("/version")
    except Denied:
        raise
    except EngineRefused as error:
        raise EngineUnavailable(f"{NOT_AN_API_SERVER} ({error})") from error
    if not isinstance(version, dict) or "gitVersion" not in version:
        raise EngineUnavailable(NOT_AN_API_SERVER)
    return version


def _server(api: Api, version: Manifest) -> Iterator[Finding]:
    shown = version["gitVersion"]
    if discovery.parse_release(version) < OLDEST:
        text = f"Kubernetes {shown}; Trainyard needs 1.29 or later. Upgrade the cluster."
        yield Finding(CONNECTION, "API server", Level.MISSING, text)
    else:
        text = f"Kubernetes {shown} at {api.address}"
        yield Finding(CONNECTION, "API server", Level.OK, text)
    try:
        api.get_bytes("/readyz")
    except EngineUnavailable as error:
        text = f"It reports that it is not ready: {error} Check its own health checks."
        yield Finding(CONNECTION, "Readiness", Level.ISSUE, text)
    except EngineRefused:
        return  # we may not read its health
    if user := user_name(api):
        yield Finding(CONNECTION, SIGNED_IN, Level.OK, user)


def _prefix(api: Api, prefix: str, installation: str) -> Iterator[Finding]:
    """Whether another Trainyard uses the same namespace names on this cluster."""
    try:
        use = prefix_use(api, prefix, installation)
    except EngineRefused:
        return  # said under permissions
    if use.refusal:
        yield Finding(CONNECTION, PREFIX, Level.REFUSED, use.refusal)
    elif use.others:
        yield Finding(CONNECTION, PREFIX, Level.MISSING, explain_taken_namespaces(use.names))


def user_name(api: Api) -> str:
    """Our user name on the cluster; empty if the server does not tell."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        return str(api.create(REVIEW_OF_SELF, body)["status"]["userInfo"]["username"])
    except EngineRefused:
        return ""


def _permissions(api: Api, here: set[str], jobs: discovery.Installed) -> Iterator[Finding]:
    """Permissions on the APIs that exist; missing APIs are reported by other checks."""
    asked = [
        right
        for right in RIGHTS
        if right.group in here and (right.group != JOBS or right.resource in jobs)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda right: refused_verbs(api, right), asked))
    parts: dict[str, list[tuple[Right, list[str]]]] = {}
    for right, verbs in zip(asked, answers, strict=True):
        parts.setdefault(right.title, []).append((right, verbs))
    for title, rights in parts.items():
        yield _permission(title, rights)


def _permission(title: str, rights: list[tuple[Right, list[str]]]) -> Finding:
    """One finding for the permissions on a resource, some of which may be needed and some not.
    Each comes with its verbs that are not allowed."""
    lacking = [(right, verbs) for right, verbs in rights if verbs]
    if not lacking:
        verbs = [verb for right, _ in rights for verb in right.verbs]
        return Finding(PERMISSIONS, title, Level.OK, ", ".join(verbs))
    needed = any(right.needed for right, _ in lacking)
    texts = [
        f"{', '.join(verbs)}: not allowed. Needed for {right.purpose}." for right, verbs in lacking
    ]
    return Finding(PERMISSIONS, title, Level.MISSING if needed else Level.WARNING, " ".join(texts))


def _frameworks(api: Api, jobs: discovery.Installed) -> Iterator[Finding]:
    """The frameworks. That a kind of job exists does not mean that its operator runs, so that is
    tested."""
    supports = [discovery.framework_support(framework, jobs) for framework in Framework]
    here = [it.framework for it in supports if it.available and not it.is_plain]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda framework: discovery.webhook_failure(api, KINDS[framework]), here)
        refusals = dict(zip(here, answers, strict=True))
    for support in supports:
        name = support.framework.label
        if support.available and (why := refusals.get(support.framework)):
            yield Finding(FRAMEWORKS, name, Level.ISSUE, f"{support.operator}: {why}")
        elif support.is_plain:
            yield Finding(FRAMEWORKS, name, Level.OK, PLAIN_FRAMEWORK)
        elif support.available:
            yield Finding(FRAMEWORKS, name, Level.OK, f"{support.operator}, {support.version}")
        else:
            yield Finding(FRAMEWORKS, name, Level.WARNING, support.why)


def _scheduling(groups: list[Manifest]) -> Iterator[Finding]:
    if any(group["name"] == KAI_GROUP for group in groups):
        yield Finding(SCHEDULING, "Scheduler", Level.OK, "KAI and the default scheduler")
    else:
        text = (
            "The default scheduler. Fractional GPUs and gangs that start together need KAI, which "
            "is not installed."
        )
        yield Finding(SCHEDULING, "Scheduler", Level.OK, text)


def _kueue(api: Api, groups: list[Manifest], jobs: discovery.Installed) -> Iterator[Finding]:
    """Whether Kueue is there, and which kinds of job it starts."""
    version = served_version(groups)
    if not version:
        return
    kinds = [*(kind for kind in KINDS.values() if kind.plural in jobs), PLAIN_JOB]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda kind: discovery.is_queued_by_kueue(api, kind), kinds))
    queued = [kind.name for kind, answer in zip(kinds, answers, strict=True) if answer]
    others = [kind.name for kind, answer in zip(kinds, answers, strict=True) if answer is False]
    text = f"{KUEUE}/{version}: a job that names a queue is started by it."
    if queued:
        text += f" Kinds that it manages: {', '.join(queued)}."
    if others:
        text += (
            f" It does not manage {', '.join(others)}: these start at once, outside all quotas, "
            "even if they name a queue. Kueue's configuration (integrations.frameworks) lists what "
            "it manages."
        )
    yield Finding(SCHEDULING, "Kueue", Level.WARNING if others else Level.OK, text)


def _local_queues(api: Api, groups: list[Manifest], prefix: str) -> Iterator[Finding]:
    """The LocalQueues of projects, and the projects that have none."""
    version = served_version(groups)
    queues = local_queues(api, version, prefix) if version else None
    if queues is None:
        return  # no Kueue, or we may not list them, which is said under permissions
    texts = [f"{queue.name} in {queue.namespace}" for queue in queues]
    inactive = [
        f"{queue.name} in {queue.namespace} starts nothing: {queue.why_inactive}."
        for queue in queues
        if queue.why_inactive
    ]
    served = {queue.namespace for queue in queues}
    without = sorted(set(_project_namespaces(api, prefix)) - served)
    text = f"{', '.join(texts[:MOST_SHOWN]) or 'none'}."
    if inactive:
        text += f" {' '.join(inactive[:MOST_SHOWN])}"
    if without:
        text += f" These namespaces have none: {', '.join(without[:MOST_SHOWN])}."
    yield Finding(
        SCHEDULING, "Queues of Kueue", Level.WARNING if inactive or without else Level.OK, text
    )


def _project_namespaces(api: Api, prefix: str) -> list[str]:
    """The namespaces of projects; none if we may not list namespaces."""
    try:
        names = [item["metadata"]["name"] for item in api.items(NAMESPACES, labelSelector=PROJECT)]
    except EngineRefused:
        return []
    return [name for name in names if name.startswith(prefix)]


def _storage(api: Api) -> Iterator[Finding]:
    name = "Default storage class"
    try:
        classes = discovery.storage_classes(api)
    except EngineRefused:
        text = (
            "Trainyard is not allowed to list storage classes, so every volume must name a class."
        )
        yield Finding(STORAGE, name, Level.WARNING, text)
        return
    default = [it["metadata"]["name"] for it in classes if discovery.is_default(it)]
    if default:
        yield Finding(STORAGE, name, Level.OK, default[0])
    else:
        names = ", ".join(it["metadata"]["name"] for it in classes) or "none"
        text = f"There is none, so every volume must name a class. Classes: {names}."
        yield Finding(STORAGE, name, Level.WARNING, text)


def _metrics(api: Api, groups: list[Manifest]) -> Iterator[Finding]:
    name = "Metrics API"
    versions = [g["preferredVersion"]["groupVersion"] for g in groups if g["name"] == METRICS]
    if not versions:
        text = "metrics.k8s.io is not served. Install metrics-server to see CPU and memory usage."
        yield Finding(METERING, name, Level.WARNING, text)
        return
    try:
        discovery.served_resources(api, versions[0])
    except EngineUnavailable as error:
        text = f"It is installed but does not answer: {error}"
        yield Finding(METERING, name, Level.ISSUE, text)
    else:
        yield Finding(METERING, name, Level.OK, versions[0])


def _nodes(inventory: Inventory) -> Iterator[Finding]:
    try:
        nodes = inventory.nodes()
    except EngineRefused:
        return  # said under permissions
    ready = sum(node.ready for node in nodes)
    text = f"{ready} of {len(nodes)} ready"
    if ready:
        yield Finding(NODES, "Nodes", Level.OK, text)
    else:
        yield Finding(NODES, "Nodes", Level.ISSUE, f"{text}. Nothing can run.")
    offered = sorted({name for node in nodes for name, most in node.resources.items() if most})
    if GPU in offered:
        yield Finding(NODES, "GPU resources", Level.OK, ", ".join(offered))
    else:
        text = f"No node offers {GPU}. Where there are GPUs, install NVIDIA's device plugin."
        others = f" Offered by nodes: {', '.join(offered)}." if offered else ""
        yield Finding(NODES, "GPU resources", Level.WARNING, text + others)
