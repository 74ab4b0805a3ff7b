"""What a cluster offers, asked of the cluster itself: frameworks, classes, schedulers."""

from collections.abc import Callable

from engines.base import Capabilities, EngineRefused, FrameworkSupport, Manifest
from engines.kubernetes.api import Api, Missing
from engines.kubernetes.kinds import KINDS, PYTORCH, Kind
from spec.workload import Framework

OPERATOR = "Kubeflow training operator"
#: Kinds of job that operators bring and that Trainyard cannot write yet.
AHEAD = {Framework.MPI: ("mpijobs", "MPIJob"), Framework.JAX: ("jaxjobs", "JAXJob")}
KAI_GROUP, KAI = "scheduling.run.ai", "kai-scheduler"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def capabilities(api: Api) -> Capabilities:
    groups = api.get("/apis")["groups"]
    installed = job_kinds(api, groups)
    kai = any(group["name"] == KAI_GROUP for group in groups)
    return Capabilities(
        frameworks=tuple(support(framework, installed) for framework in Framework),
        queues=True,
        schedulers=("default-scheduler", KAI) if kai else ("default-scheduler",),
        storage_classes=_names(_allowed(lambda: storage_classes(api))),
        priority_classes=_priority_classes(api),
        terminal=True,
    )


def kinds_here(api: Api) -> list[Kind]:
    """The kinds of job that can exist here."""
    plurals = served(api, PYTORCH.api_version)
    return [kind for kind in KINDS.values() if kind.plural in plurals]


def job_kinds(api: Api, groups: list[Manifest]) -> dict[str, str]:
    """Plural → newest version of every kind in the operators' group."""
    found: dict[str, str] = {}
    for group in groups:
        if group["name"] == PYTORCH.group:
            for version in reversed(group["versions"]):  # the preferred one comes first
                path = version["groupVersion"]
                found |= dict.fromkeys(served(api, path), path)
    return found


def served(api: Api, group_version: str) -> list[str]:
    """The resources of a version of an API; none where it is not there."""
    try:
        return [item["name"] for item in api.get(f"/apis/{group_version}")["resources"]]
    except Missing:
        return []


def support(framework: Framework, installed: dict[str, str]) -> FrameworkSupport:
    """Whether it runs here, given what :func:`job_kinds` found."""
    if framework in AHEAD:
        plural, name = AHEAD[framework]
        why = f"Trainyard does not write {name}s yet."
        version = installed.get(plural, "")
        return FrameworkSupport(framework, available=False, version=version, why=why)
    kind = KINDS[framework]
    if kind.plural in installed:
        return FrameworkSupport(
            framework, available=True, operator=OPERATOR, version=installed[kind.plural]
        )
    why = f"The cluster has no {kind.name}. Install the {OPERATOR}, which brings it."
    return FrameworkSupport(framework, available=False, why=why)


def storage_classes(api: Api) -> list[Manifest]:
    """The default one first. ``EngineRefused`` where we may not look."""
    return sorted(api.items(STORAGE_CLASSES), key=lambda found: not is_default(found))


def is_default(storage_class: Manifest) -> bool:
    return (storage_class["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"


def _names(found: list[Manifest]) -> tuple[str, ...]:
    return tuple(item["metadata"]["name"] for item in found)


def _priority_classes(api: Api) -> tuple[str, ...]:
    names = _names(_allowed(lambda: api.items(PRIORITY_CLASSES)))
    return tuple(name for name in names if not name.startswith("system-"))


def _allowed(look: Callable[[], list[Manifest]]) -> list[Manifest]:
    """Empty where we may not look: a choice less, and no reason to stop."""
    try:
        return look()
    except EngineRefused:
        return []
