"""What a cluster offers, asked of the cluster itself: frameworks, classes, schedulers, nodes."""

from decimal import Decimal

from engines.base import (
    Capabilities,
    EngineRefused,
    FrameworkSupport,
    Gpu,
    Manifest,
    Node,
)
from engines.kubernetes.api import Api, Missing
from engines.kubernetes.kinds import GPU, KINDS, PYTORCH, Kind
from engines.kubernetes.pods import condition
from spec.quantities import UNITS
from spec.workload import Framework

OPERATOR = "Kubeflow training operator"
#: Kinds of job that operators bring and that Trainyard cannot write yet.
AHEAD = {Framework.MPI: ("mpijobs", "MPIJob"), Framework.JAX: ("jaxjobs", "JAXJob")}
KAI_GROUP, KAI = "scheduling.run.ai", "kai-scheduler"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
MIB = 1024**2


def capabilities(api: Api) -> Capabilities:
    groups = api.get("/apis")["groups"]
    installed = _resources(api, groups)
    kai = any(group["name"] == KAI_GROUP for group in groups)
    return Capabilities(
        frameworks=tuple(_support(framework, installed) for framework in Framework),
        queues=True,
        schedulers=("default-scheduler", KAI) if kai else ("default-scheduler",),
        storage_classes=_storage_classes(api),
        priority_classes=_priority_classes(api),
    )


def kinds_here(api: Api) -> list[Kind]:
    """The kinds of job that can exist here."""
    served = _served(api, PYTORCH.api_version)
    return [kind for kind in KINDS.values() if kind.plural in served]


def _resources(api: Api, groups: list[Manifest]) -> dict[str, str]:
    """Plural → newest version of every kind in the operators' group."""
    found: dict[str, str] = {}
    for group in groups:
        if group["name"] == PYTORCH.group:
            for version in reversed(group["versions"]):  # the preferred one comes first
                path = version["groupVersion"]
                found |= dict.fromkeys(_served(api, path), path)
    return found


def _served(api: Api, group_version: str) -> list[str]:
    try:
        return [item["name"] for item in api.get(f"/apis/{group_version}")["resources"]]
    except Missing:
        return []


def _support(framework: Framework, installed: dict[str, str]) -> FrameworkSupport:
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


def _storage_classes(api: Api) -> tuple[str, ...]:
    """The default one first."""
    found = _allowed(api, "/apis/storage.k8s.io/v1/storageclasses")
    found.sort(
        key=lambda it: (it["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) != "true"
    )
    return tuple(item["metadata"]["name"] for item in found)


def _priority_classes(api: Api) -> tuple[str, ...]:
    names = [
        it["metadata"]["name"] for it in _allowed(api, "/apis/scheduling.k8s.io/v1/priorityclasses")
    ]
    return tuple(name for name in names if not name.startswith("system-"))


def _allowed(api: Api, path: str) -> list[Manifest]:
    """Empty where we may not look: a choice less, and no reason to stop."""
    try:
        return api.items(path)
    except EngineRefused:
        return []


def nodes(api: Api) -> tuple[Node, ...]:
    return tuple(node(item) for item in api.items("/api/v1/nodes"))


def node(item: Manifest) -> Node:
    """A node with what pods may have of it."""
    room, labels = item["status"].get("allocatable") or {}, item["metadata"].get("labels") or {}
    ready, message = _readiness(item)
    model = labels.get(f"{GPU}.product", "NVIDIA GPU").replace("-", " ")
    memory = int(labels.get(f"{GPU}.memory", "0")) * MIB
    return Node(
        name=item["metadata"]["name"],
        cpu=float(amount(room.get("cpu", "0"))),
        memory=int(amount(room.get("memory", "0"))),
        gpus=tuple(Gpu(index, model, memory) for index in range(int(room.get(GPU, "0")))),
        ready=ready,
        message=message,
    )


def _readiness(item: Manifest) -> tuple[bool, str]:
    state = condition(item["status"], "Ready")
    if state.get("status") != "True":
        return False, state.get("message") or "The node does not report its state."
    if item["spec"].get("unschedulable"):
        return False, "Cordoned: no new pods are scheduled on it."
    return True, ""


def amount(text: str) -> Decimal:
    """A quantity as API servers write it: ``1900m``, ``8046488Ki``, ``2``, ``1e3``."""
    for suffix, factor in sorted(UNITS.items(), key=lambda unit: -len(unit[0])):
        if suffix and text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * factor
    if text.endswith("m"):
        return Decimal(text.removesuffix("m")) / 1000
    return Decimal(text)
