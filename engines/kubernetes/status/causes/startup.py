"""Why a container does not start on its node: its image, configuration or volumes. Pure."""

import re
from collections.abc import Iterable, Iterator

from engines.base import Manifest
from engines.kubernetes.status.causes.program import start_failure_cause
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

#: Waiting reasons that last until somebody acts.
IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError"})
MOUNT = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
NAMED = re.compile(r'(secret|configmap|persistentvolumeclaim)s? "([^"]+)" not found', re.IGNORECASE)
KINDS = {"secret": "Secret", "configmap": "ConfigMap", "persistentvolumeclaim": "claim"}
KEYLESS = re.compile(
    r"couldn't find key (?P<key>\S+) in (?P<kind>Secret|ConfigMap) (?:[^/\s]+/)?(?P<name>\S+)"
)
KEYLESS_VOLUME = re.compile(
    r'volume "(?P<volume>[^"]+)" : (?:configmap )?references non-existent '
    r"(?P<kind>secret|config) key: (?P<key>\S+)"
)
CLASS = re.compile(r'storageclass\.storage\.k8s\.io "([^"]+)" not found')
MULTI_ATTACH = re.compile(r"Multi-Attach error for volume")
PULL_SECRETS = re.compile(r"Unable to retrieve some image pull secrets \(([^)]+)\)")
OWN_IMAGE = (
    "Check the image's name and tag, and that the cluster may pull it: a private registry "
    "needs a credential. Then Copy & edit."
)
FETCHERS_IMAGE = (
    "It fetches the Git and S3 data sources and is not the workload's own. Ask an administrator: "
    "Trainyard's settings TRAINYARD_GIT_IMAGE and TRAINYARD_S3_IMAGE name others."
)


def waiting_cause(
    waiting: Manifest, image: str, warnings: Iterable[Manifest], *, fetches: bool = False
) -> Cause | None:
    """The cause of a container that is stuck waiting. ``fetches``: it fetches a data source."""
    reason = waiting.get("reason", "")
    said = str(waiting.get("message") or "")
    words = f"{reason}: {said}".rstrip(": ")
    if reason in IMAGE:
        warnings = list(warnings)
        detail = next((text for text in messages_of(warnings, "Failed") if "pull" in text), words)
        title = f"The image {image} cannot be pulled"
        todo = FETCHERS_IMAGE if fetches else f"{_missing_pull_secret(warnings)}{OWN_IMAGE}"
        return Cause(CauseKind.IMAGE, title, todo, said=detail)
    if reason == "RunContainerError":
        return start_failure_cause(waiting)
    if reason in CONFIG:
        title, todo = _missing_object(said)
        return Cause(
            CauseKind.MISSING,
            title or "The container cannot be created",
            todo or "Change what the message names, then Copy & edit.",
            said=words,
        )
    return None


def messages_of(warnings: Iterable[Manifest], *reasons: str) -> Iterator[str]:
    return (str(one.get("message", "")) for one in warnings if one["reason"] in reasons)


def _missing_pull_secret(warnings: Iterable[Manifest]) -> str:
    """A sentence about pull secrets that do not exist; empty if there are none."""
    for text in messages_of(warnings, "FailedToRetrieveImagePullSecret"):
        if named := PULL_SECRETS.search(text):
            return (
                f"The project's namespace has no pull secret {named[1]}: create it, or leave it "
                "out. "
            )
    return ""


def mount_cause(warnings: Iterable[Manifest]) -> Cause | None:
    """Why a pod's volumes cannot be mounted, from the last telling event."""
    said = list(messages_of(warnings, *MOUNT))
    if not said:
        return None
    if in_use := next((text for text in reversed(said) if MULTI_ATTACH.search(text)), ""):
        title = "A volume is in use on another node"
        todo = (
            "Its access mode allows only one node at a time. Choose ReadWriteMany and a storage "
            "class that has it, or keep the pods on one node, then Copy & edit."
        )
        return Cause(CauseKind.STORAGE, title, todo, said=in_use)
    telling = next((text for text in reversed(said) if any(_missing_object(text))), said[-1])
    title, todo = _missing_object(telling)
    return Cause(
        CauseKind.MISSING if title else CauseKind.STORAGE,
        title or "A volume cannot be mounted",
        todo or "Check that the data source is reachable from the node, then Copy & edit.",
        said=telling,
    )


def provisioning_cause(warnings: Iterable[Manifest]) -> Cause | None:
    """Why a claim of the workload gets no volume, from the claim's last event."""
    said = list(messages_of(warnings, "ProvisioningFailed"))
    if not said:
        return None
    if named := CLASS.search(said[-1]):
        title = f"The cluster has no storage class {named[1]}"
        todo = "Choose an existing one, or have it created, then Copy & edit."
        return Cause(CauseKind.STORAGE, title, todo, said=said[-1], precise_reason=Reason.REFUSED)
    todo = "Ask the cluster's administrator: the provisioner of the storage class says why."
    return Cause(CauseKind.STORAGE, "A volume cannot be created", todo, said=said[-1])


def _missing_object(said: str) -> tuple[str, str]:
    """Title and next step, if the message names something that does not exist; else empty."""
    if keyless := KEYLESS.search(said):
        kind = keyless["kind"]
        name = keyless["name"]
        key = keyless["key"]
        return (
            f"The {kind} {name} has no key {key}",
            f"Add the key to the {kind}, or name another one.",
        )
    if keyless := KEYLESS_VOLUME.search(said):
        kind = "Secret" if keyless["kind"] == "secret" else "ConfigMap"
        title = f"The {kind} of the volume {keyless['volume']} has no key {keyless['key']}"
        return title, f"Add the key to the {kind}, or name another one."
    named = NAMED.search(said)
    if named is None:
        return "", ""
    kind = KINDS[named[1].lower()]
    title = f"The {kind} {named[2]} is missing"
    return title, f"Create the {kind} in the project's namespace, or leave it out."
