"""What a workload has on the cluster besides its job: a Secret, claims and what leads to its tools,
made before it."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from engines.base import EngineRefused, EngineUnavailable, Handle, Manifest
from engines.kubernetes.client.api import Api, Conflict, Denied
from engines.kubernetes.jobs import WORKLOAD, job_name
from engines.kubernetes.labels import EPHEMERAL, INSTALLATION, is_of_another, mark
from engines.kubernetes.manifests.pod.pulls import TYPE as PULLS
from engines.kubernetes.manifests.tools import FIELD, TOOL
from spec.parts.environment import ConnectionType
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind
from spec.tools import Tool

NAMESPACES = "/api/v1/namespaces"
OF_THE_SERVER = {"foregroundDeletion", "orphan"}  # finalizers
TRIES = 5  # at marking a namespace that others change at the same time
FOLDERS = {
    "Secret": "/api/v1/namespaces/{}/secrets",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Service": "/api/v1/namespaces/{}/services",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
}


def folder(kind: str, space: str) -> str:
    return FOLDERS[kind].format(space)


def claim_namespace(api: Api, space: Manifest) -> None:
    """Make it, or mark one that nobody has marked yet, with the labels that ``space`` has.

    ``EngineRefused``: another Trainyard marked it, which uses the same prefix on this cluster.
    """
    meta = space["metadata"]
    path, installation = f"{NAMESPACES}/{meta['name']}", meta["labels"].get(INSTALLATION, "")
    for _ in range(TRIES):
        present = api.find(path)
        try:
            if present is None:
                api.create(NAMESPACES, space)
                return
            if is_of_another(present, installation):
                raise EngineRefused(taken([meta["name"]]))
            if installation and INSTALLATION not in (present["metadata"].get("labels") or {}):
                version = present["metadata"]["resourceVersion"]
                marks = {"resourceVersion": version, "labels": mark(installation)}
                with suppress(Denied):  # an account from before may not: then nobody's stays so
                    api.merge(path, {"metadata": marks})
            return
        except Conflict:
            continue  # somebody else was quicker
    raise EngineUnavailable(f"The namespace {meta['name']} keeps changing.")


def taken(names: Sequence[str]) -> str:
    """Why nothing is done in namespaces of another Trainyard, and what to do."""
    one = len(names) == 1
    spaces = f"The namespace {names[0]} belongs" if one else f"{', '.join(names)} belong"
    return (
        f"{spaces} to another Trainyard, which uses the same namespace prefix on this cluster. "
        "Give this cluster another prefix. If that Trainyard no longer exists, release the "
        f"namespace: kubectl label namespace {names[0]} {INSTALLATION}-"
    )


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
        claim = api.find(f"{path}/{meta['name']}")
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable(f"The claim {meta['name']} is still being deleted.") from None
    except EngineRefused as error:
        raise EngineRefused(str(error), field=_field(meta["name"])) from error


def _place(item: Manifest, refused: str) -> str:
    """The spec's field behind a Secret, or behind what leads to a tool."""
    tool = item["metadata"].get("annotations", {}).get(FIELD)
    if not tool:
        return "worker.image" if item.get("type") == PULLS else "worker.environmentVariables"
    if refused.endswith("nodePort"):
        return f"{tool}.nodePort"
    return f"{tool}.externalUrl" if item["kind"] == "Ingress" else str(tool)


def _field(claim: str) -> str:
    """``mnist-8f14e45f-worker-volume-0`` is the first claim of the workers; one with a name of its
    own may be of any."""
    match claim.rsplit("-", 3):
        case [_, ("worker" | "master") as role, "volume", number]:
            return f"{role}.storage.pvc[{number}]"
    return "worker.storage.pvc"


def remove_claims(api: Api, handle: Handle, space: str, *, ephemeral: bool = False) -> None:
    """All that were made for the workload, or only those that a stop ends. They go with the last
    pod that uses them."""
    selector = f"{WORKLOAD}={handle.workload_id}" + (f",{EPHEMERAL}=true" if ephemeral else "")
    path = folder("PersistentVolumeClaim", space)
    for claim in _ours(api, path, selector):
        api.delete(f"{path}/{claim['metadata']['name']}")


def remove(api: Api, handle: Handle, space: str) -> None:
    with suppress(Denied):  # then none was made either
        for part in ("env", "pull"):
            api.delete(f"{folder('Secret', space)}/{job_name(handle)}-{part}")
    remove_claims(api, handle, space)
    for kind in ("Ingress", "Service"):
        remove_tools(api, handle, folder(kind, space))


def finalizers(job: Manifest) -> list[str]:
    """Those of others, who let go of what is deleted once they did their part."""
    return sorted(set(job["metadata"].get("finalizers") or ()) - OF_THE_SERVER)


def held(names: Sequence[str]) -> EngineUnavailable:
    title = f"The job is kept on the cluster by the finalizer {' and '.join(names)}"
    todo = "Whoever added it must remove it. If this persists, ask the administrator."
    cause = Cause(CauseKind.OTHER, title, todo, own_reason=Reason.CLUSTER_UNAVAILABLE)
    return EngineUnavailable(f"{title}. {todo}", cause=cause)


def remove_tools(api: Api, handle: Handle, path: str) -> None:
    for item in _ours(api, path, f"{WORKLOAD}={handle.workload_id},{TOOL}"):
        api.delete(f"{path}/{item['metadata']['name']}")


def _ours(api: Api, path: str, selector: str) -> list[Manifest]:
    """These are rights that a cluster may keep from us: then there are none."""
    try:
        return api.items(path, labelSelector=selector)
    except EngineRefused:
        return []


def address(api: Api, space: str, name: str, tool: Tool, host_ip: str) -> str:
    """Where a tool is reached past Trainyard, as the cluster has it now: a URL without a path,
    empty where the way leads through Trainyard. ``host_ip`` is that of the tool's node."""
    kind = tool.connection.connection_type
    if kind is ConnectionType.CLUSTER_IP:
        return ""
    if kind is ConnectionType.EXTERNAL_URL:
        spec = api.get(f"{folder('Ingress', space)}/{name}")["spec"]
        return f"{'https' if spec.get('tls') else 'http'}://{spec['rules'][0]['host']}"
    service = api.get(f"{folder('Service', space)}/{name}")
    port = service["spec"]["ports"][0]
    if kind is ConnectionType.NODE_PORT:
        return f"http://{host_ip}:{port['nodePort']}"
    return f"http://{_balancer(service)}:{port['port']}"


def _balancer(service: dict[str, Any]) -> str:
    addresses = service["status"].get("loadBalancer", {}).get("ingress") or []
    if not addresses:
        raise EngineUnavailable("The load balancer has no address yet.")
    return str(addresses[0].get("hostname") or addresses[0]["ip"])
