"""What a workload has on the cluster besides its job: a Secret, claims and what leads to its tools,
made before it."""

from engines.base import EngineRefused, EngineUnavailable, Handle, Manifest
from engines.kubernetes.api import Api, Conflict
from engines.kubernetes.kinds import WORKLOAD, job_name
from engines.kubernetes.naming import EPHEMERAL
from engines.kubernetes.tools import FIELD, TOOL

NAMESPACES = "/api/v1/namespaces"
FOLDERS = {
    "Secret": "/api/v1/namespaces/{}/secrets",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Service": "/api/v1/namespaces/{}/services",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
}


def folder(kind: str, space: str) -> str:
    return FOLDERS[kind].format(space)


def make_namespace(api: Api, space: Manifest) -> None:
    if api.find(f"{NAMESPACES}/{space['metadata']['name']}") is None:
        try:
            api.create(NAMESPACES, space)
        except Conflict:
            return  # someone else was quicker


def make(api: Api, item: Manifest) -> None:
    """Once, however often it is asked for. ``EngineRefused`` names the field it is about."""
    meta = item["metadata"]
    path = folder(item["kind"], meta["namespace"])
    if item["kind"] != "PersistentVolumeClaim":
        try:
            api.apply(f"{path}/{meta['name']}", item)
        except EngineRefused as error:
            raise EngineRefused(str(error), field=_place(item, error.field)) from error
        return
    try:
        api.create(path, item)
    except Conflict:
        known = api.find(f"{path}/{meta['name']}")
        if known is None or known["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable(f"The claim {meta['name']} is still being deleted.") from None
    except EngineRefused as error:
        raise EngineRefused(str(error), field=_field(meta["name"])) from error


def _place(item: Manifest, refused: str) -> str:
    """The spec's field behind a Secret, or behind what leads to a tool."""
    tool = item["metadata"].get("annotations", {}).get(FIELD)
    if not tool:
        return "worker.environmentVariables"
    if refused.endswith("nodePort"):
        return f"{tool}.nodePort"
    return f"{tool}.externalUrl" if item["kind"] == "Ingress" else str(tool)


def _field(claim: str) -> str:
    """``mnist-8f14e45f-worker-volume-0`` is the first claim of the workers."""
    *_, role, _, number = claim.rsplit("-", 3)
    return f"{role}.storage.pvc[{number}]"


def remove_claims(api: Api, handle: Handle, space: str, *, ephemeral: bool = False) -> None:
    """All that were made for the workload, or only those that a stop ends. They go with the last
    pod that uses them."""
    selector = f"{WORKLOAD}={handle.workload_id}" + (f",{EPHEMERAL}=true" if ephemeral else "")
    path = folder("PersistentVolumeClaim", space)
    for claim in _ours(api, path, selector):
        api.delete(f"{path}/{claim['metadata']['name']}")


def remove(api: Api, handle: Handle, space: str) -> None:
    api.delete(f"{folder('Secret', space)}/{job_name(handle)}-env")
    remove_claims(api, handle, space)
    for kind in ("Ingress", "Service"):
        remove_tools(api, handle, folder(kind, space))


def remove_tools(api: Api, handle: Handle, path: str) -> None:
    for item in _ours(api, path, f"{WORKLOAD}={handle.workload_id},{TOOL}"):
        api.delete(f"{path}/{item['metadata']['name']}")


def _ours(api: Api, path: str, selector: str) -> list[Manifest]:
    """These are rights that a cluster may keep from us: then there are none."""
    try:
        return api.items(path, labelSelector=selector)
    except EngineRefused:
        return []
