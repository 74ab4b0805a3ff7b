"""Why a container does not start on its node: its image, configuration or volumes. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.status.causes.program import start_failure_cause
from engines.kubernetes.status.causes.unschedulable import VOLUME_AWAITED
from engines.kubernetes.status.events import PROVISIONING, event_time
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

#: Waiting reasons that last until somebody acts.
IMAGE = frozenset(
    {
        *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
        *("ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"),
    }
)
CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError"})
#: Waiting reasons of every start, or of a program that failed, which has causes of its own.
ORDINARY = frozenset({"", "ContainerCreating", "PodInitializing", "CrashLoopBackOff"})
NO_COMMAND = re.compile(r"no command specified")
#: How the runtime got to the part of its message that people can act on.
CREATE_PREFIX = re.compile(
    r"^(?:failed to generate container (?:\S+ )?spec: |failed to generate spec: |"
    r"failed to create containerd container: |rpc error: code = \w+ desc = )+"
)
#: Each attempt has another one, and it says nothing to people.
CONTAINER_ID = re.compile(r' "?[0-9a-f]{64}"?')
LONGEST_REASON = 200  # characters of a runtime's message in a title
COPY = "then Copy & edit."
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
PROVISIONER = re.compile(r"external provisioner '([^']+)'")
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
    said = CONTAINER_ID.sub("", str(waiting.get("message") or ""))
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
        if title:
            return Cause(CauseKind.MISSING, title, todo, said=words)
        return _refused_container(said, image, words)
    if said and reason not in ORDINARY:
        todo = "If this persists, ask the cluster's administrator to look at the node."
        title = f"The container waits: {words[:LONGEST_REASON]}"
        return Cause(CauseKind.OTHER, title, todo, said=words)
    return None


def _refused_container(said: str, image: str, words: str) -> Cause:
    """The cause if the node's runtime cannot create the container. ``said`` is why."""
    if NO_COMMAND.search(said):
        title = f"The image {image} has no command of its own"
        todo = f"Give it a command, {COPY}"
        reason = Reason.COMMAND_NOT_FOUND
    else:
        why = CREATE_PREFIX.sub("", said)[:LONGEST_REASON]
        title = f"The container cannot be created: {why}".rstrip(": ")
        todo = f"Change what the message names, {COPY}"
        reason = Reason.REFUSED
    return Cause(CauseKind.PROGRAM, title, todo, said=words, precise_reason=reason)


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


def provisioning_cause(
    events: Iterable[Manifest], *, since: datetime | None = None
) -> Cause | None:
    """Why a claim of the workload has no volume yet, from the claim's last event, if that is not
    older than ``since``."""
    recent = [one for one in events if since is None or event_time(one) >= since]
    said = list(messages_of(recent, "ProvisioningFailed"))
    if not said:
        return _awaited_volume(list(messages_of(recent, *PROVISIONING)))
    if named := CLASS.search(said[-1]):
        title = f"The cluster has no storage class {named[1]}"
        todo = "Choose an existing one, or have it created, then Copy & edit."
        return Cause(CauseKind.STORAGE, title, todo, said=said[-1], precise_reason=Reason.REFUSED)
    todo = "Ask the cluster's administrator: the provisioner of the storage class says why."
    return Cause(CauseKind.STORAGE, "A volume cannot be created", todo, said=said[-1])


def _awaited_volume(said: list[str]) -> Cause | None:
    """The cause if a provisioner was asked for a volume, in the messages of events about that."""
    if not said:
        return None
    named = PROVISIONER.search(said[-1])
    who = f"the provisioner {named[1]}" if named else "its provisioner"
    todo = (
        "Creating a volume takes from seconds to minutes. If this persists, ask the cluster's "
        f"administrator whether {who} runs."
    )
    return Cause(CauseKind.STORAGE, VOLUME_AWAITED, todo, said=said[-1])


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
