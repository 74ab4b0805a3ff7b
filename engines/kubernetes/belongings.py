"""What a workload has on the cluster besides its job: a Secret and claims, made before it."""

from engines.base import EngineRefused, EngineUnavailable, Handle, Manifest
from engines.kubernetes.api import Api, Conflict
from engines.kubernetes.kinds import WORKLOAD, job_name
from engines.kubernetes.naming import EPHEMERAL

NAMESPACES = "/api/v1/namespaces"
SECRETS, CLAIMS = "secrets", "persistentvolumeclaims"
PLURALS = {"Secret": SECRETS, "PersistentVolumeClaim": CLAIMS}


def make_namespace(api: Api, space: Manifest) -> None:
    if api.find(f"{NAMESPACES}/{space['metadata']['name']}") is None:
        try:
            api.create(NAMESPACES, space)
        except Conflict:
            return  # someone else was quicker


def make(api: Api, item: Manifest) -> None:
    """Once, however often it is asked for. ``EngineRefused`` names the field it is about."""
    meta = item["metadata"]
    path = f"{NAMESPACES}/{meta['namespace']}/{PLURALS[item['kind']]}"
    if item["kind"] == "Secret":
        try:
            api.apply(f"{path}/{meta['name']}", item)
        except EngineRefused as error:
            raise EngineRefused(str(error), field="worker.environmentVariables") from error
        return
    try:
        api.create(path, item)
    except Conflict:
        known = api.find(f"{path}/{meta['name']}")
        if known is None or known["metadata"].get("deletionTimestamp"):
            raise EngineUnavailable(f"The claim {meta['name']} is still being deleted.") from None
    except EngineRefused as error:
        raise EngineRefused(str(error), field=_field(meta["name"])) from error


def _field(claim: str) -> str:
    """``mnist-8f14e45f-worker-volume-0`` is the first claim of the workers."""
    *_, role, _, number = claim.rsplit("-", 3)
    return f"{role}.storage.pvc[{number}]"


def remove_claims(api: Api, handle: Handle, space: str, *, ephemeral: bool = False) -> None:
    """All that were made for the workload, or only those that a stop ends. They go with the last
    pod that uses them."""
    selector = f"{WORKLOAD}={handle.workload_id}" + (f",{EPHEMERAL}=true" if ephemeral else "")
    path = f"{NAMESPACES}/{space}/{CLAIMS}"
    try:
        claims = api.items(path, labelSelector=selector)
    except EngineRefused:
        return  # volumes are a right that a cluster may keep from us: then there are none
    for claim in claims:
        api.delete(f"{path}/{claim['metadata']['name']}")


def remove(api: Api, handle: Handle, space: str) -> None:
    api.delete(f"{NAMESPACES}/{space}/{SECRETS}/{job_name(handle)}-env")
    remove_claims(api, handle, space)
