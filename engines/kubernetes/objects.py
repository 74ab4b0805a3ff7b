"""A workload's objects besides its job: Secrets, claims, and what leads to its tools. They are
created before the job."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from engines.base import EngineRefused, EngineUnavailable, Handle, Manifest
from engines.kubernetes.client.api import Api, Conflict, Denied
from engines.kubernetes.labels import (
    EPHEMERAL,
    FIELD,
    INSTALLATION,
    TOOL,
    WORKLOAD,
    installation_labels,
    is_marked_by_another,
)
from engines.kubernetes.manifests.pod.pulls import TYPE as PULLS
from engines.kubernetes.names import job_name
from spec.parts.environment import ConnectionType
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind
from spec.tools import Tool

NAMESPACES = "/api/v1/namespaces"
#: Finalizers of Kubernetes itself; the last one is on the pods of Jobs.
SERVER_FINALIZERS = {"foregroundDeletion", "orphan", "batch.kubernetes.io/job-tracking"}
TRIES = 5  # to mark a namespace that others change at the same time
COLLECTION_PATHS = {
    "Secret": "/api/v1/namespaces/{}/secrets",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Service": "/api/v1/namespaces/{}/services",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
}


def collection_path(kind: str, space: str) -> str:
    return COLLECTION_PATHS[kind].format(space)


def claim_namespace(api: Api, space: Manifest) -> None:
    """Create a namespace, or mark an unmarked one, with the labels in ``space``.

    ``EngineRefused`` if another Trainyard marked it, which then uses the same prefix on this
    cluster.
    """
    meta = space["metadata"]
    path = f"{NAMESPACES}/{meta['name']}"
    installation = meta["labels"].get(INSTALLATION, "")
    for _ in range(TRIES):
        present = api.find(path)
        try:
            if present is None:
                api.create(NAMESPACES, space)
                return
            if is_marked_by_another(present, installation):
                raise EngineRefused(explain_taken_namespaces([meta["name"]]))
            if installation and INSTALLATION not in (present["metadata"].get("labels") or {}):
                version = present["metadata"]["resourceVersion"]
                marks = {"resourceVersion": version, "labels": installation_labels(installation)}
                with suppress(Denied):  # the right is optional: without it, it stays unmarked
                    api.merge(path, {"metadata": marks})
            return
        except Conflict:
            continue  # somebody else was quicker
    raise EngineUnavailable(f"The namespace {meta['name']} keeps changing.")


def explain_taken_namespaces(names: Sequence[str]) -> str:
    """Explain why namespaces of another Trainyard are left alone, and what to do."""
    one = len(names) == 1
    spaces = f"The namespace {names[0]} belongs" if one else f"{', '.join(names)} belong"
    return (
        f"{spaces} to another Trainyard, which uses the same namespace prefix on this cluster. "
        "Give this cluster another prefix. If that Trainyard no longer exists, release the "
        f"namespace: kubectl label namespace {names[0]} {INSTALLATION}-"
    )


def create_object(api: Api, item: Manifest) -> None:
    """Create an object, idempotently. ``EngineRefused`` names the field of the spec it concerns."""
    meta = item["metadata"]
    path = collection_path(item["kind"], meta["namespace"])
    if item["kind"] != "PersistentVolumeClaim":
        try:
            api.apply(f"{path}/{meta['name']}", item)
        except EngineRefused as error:
            raise EngineRefused(str(error), field=_object_field(item, error.field)) from error
        return
    try:
        api.create(path, item)
    except Conflict:
        claim = api.find(f"{path}/{meta['name']}")
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable(f"The claim {meta['name']} is still being deleted.") from None
    except EngineRefused as error:
        raise EngineRefused(str(error), field=meta["annotations"][FIELD]) from error


def _object_field(item: Manifest, refused: str) -> str:
    """The field of the spec that an object comes from."""
    tool = item["metadata"].get("annotations", {}).get(FIELD)
    if not tool and item["kind"] == "Service":
        return ""  # that of a gang's names
    if not tool:
        return "worker.image" if item.get("type") == PULLS else "worker.environmentVariables"
    if refused.endswith("nodePort"):
        return f"{tool}.nodePort"
    return f"{tool}.externalUrl" if item["kind"] == "Ingress" else str(tool)


def remove_claims(api: Api, handle: Handle, space: str, *, ephemeral: bool = False) -> None:
    """Delete the workload's claims, or only the ephemeral ones. They disappear with the last pod
    that uses them."""
    selector = f"{WORKLOAD}={handle.workload_id}" + (f",{EPHEMERAL}=true" if ephemeral else "")
    path = collection_path("PersistentVolumeClaim", space)
    for claim in _list_objects(api, path, selector):
        api.delete(f"{path}/{claim['metadata']['name']}")


def remove_objects(api: Api, handle: Handle, space: str) -> None:
    with suppress(Denied):  # then none was created either
        for part in ("env", "pull"):
            api.delete(f"{collection_path('Secret', space)}/{job_name(handle)}-{part}")
    remove_claims(api, handle, space)
    with suppress(Denied):
        api.delete(f"{collection_path('Service', space)}/{job_name(handle)}")  # a gang's names
    for kind in ("Ingress", "Service"):
        remove_tools(api, handle, collection_path(kind, space))


def foreign_finalizers(item: Manifest) -> list[str]:
    """Other people's finalizers, which delay the deletion until their owner removes them."""
    return sorted(set(item["metadata"].get("finalizers") or ()) - SERVER_FINALIZERS)


def finalizer_error(what: str, names: Sequence[str]) -> EngineUnavailable:
    """``what`` is the object that is kept."""
    title = f"{what} is kept on the cluster by the finalizer {' and '.join(names)}"
    todo = "The controller that added it must remove it. If this persists, ask the administrator."
    cause = Cause(CauseKind.OTHER, title, todo, precise_reason=Reason.CLUSTER_UNAVAILABLE)
    return EngineUnavailable(f"{title}. {todo}", cause=cause)


def remove_tools(api: Api, handle: Handle, path: str) -> None:
    for item in _list_objects(api, path, f"{WORKLOAD}={handle.workload_id},{TOOL}"):
        api.delete(f"{path}/{item['metadata']['name']}")


def _list_objects(api: Api, path: str, selector: str) -> list[Manifest]:
    """The matching objects; none if we may not list them."""
    try:
        return api.items(path, labelSelector=selector)
    except EngineRefused:
        return []


def tool_url(api: Api, space: str, name: str, tool: Tool, host_ip: str) -> str:
    """The URL of a tool that is reached directly, without a path; empty if it is reached through
    Trainyard. ``host_ip`` is the address of the tool's node."""
    kind = tool.connection.connection_type
    if kind is ConnectionType.CLUSTER_IP:
        return ""
    if kind is ConnectionType.EXTERNAL_URL:
        spec = api.get(f"{collection_path('Ingress', space)}/{name}")["spec"]
        return f"{'https' if spec.get('tls') else 'http'}://{spec['rules'][0]['host']}"
    service = api.get(f"{collection_path('Service', space)}/{name}")
    port = service["spec"]["ports"][0]
    if kind is ConnectionType.NODE_PORT:
        return f"http://{host_ip}:{port['nodePort']}"
    return f"http://{_load_balancer_address(service)}:{port['port']}"


def _load_balancer_address(service: dict[str, Any]) -> str:
    addresses = service["status"].get("loadBalancer", {}).get("ingress") or []
    if not addresses:
        raise EngineUnavailable("The load balancer has no address yet.")
    return str(addresses[0].get("hostname") or addresses[0]["ip"])
