"""Why a job's pods do not run: from pods, pod groups and events to one cause. Pure."""

import re
from collections.abc import Iterable

from engines.base import Manifest
from engines.kubernetes.sources import FETCHER
from spec.causes import Cause, CauseKind

#: Waiting for these ends only when somebody acts.
IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
MOUNT = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
NOT_MADE = re.compile(r"^FailedCreate")  # the operator's FailedCreatePod, a Job's FailedCreate
NAMED = re.compile(r'(secret|configmap|persistentvolumeclaim)s? "([^"]+)" not found', re.IGNORECASE)
KINDS = {"secret": "Secret", "configmap": "ConfigMap", "persistentvolumeclaim": "claim"}
#: Pods of a namespace just made may come before its service account, and are tried again.
UNPREPARED = re.compile(r"No API token found for service account|serviceaccount .+ not found")
EXCEEDED = re.compile(r"exceeded quota: ([^,]+), requested: (.+?), used: (.+?), limited: (.+)$")
MOST_WORDS = 300  # characters of what a container said last
#: What git adds to whatever ssh said.
GITS_ADVICE = {
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
}
#: Why ssh reaches no repository, what tells most first.
SSH = {
    "IDENTIFICATION HAS CHANGED": "the host has another key than known_hosts of the Secret says. "
    "Make sure that it is the right host, then correct its line there",
    "host key is known for": "known_hosts of the Secret has no line for this host. Add the one "
    "that ssh-keyscan prints, once compared with what the host's owner says",
    "Load key": "what the Secret has under ssh is no private key, or one with a passphrase",
    "Permission denied (": "the server does not take the key that the Secret has under ssh",
}

KAI: dict[str, Cause] = {
    "NonPreemptibleOverQuota": Cause(
        CauseKind.QUOTA,
        "More than the project's quota, which a non-preemptible workload may not exceed",
        "Make it preemptible, ask for less, or wait until workloads of the project end.",
    ),
    "OverLimit": Cause(
        CauseKind.QUOTA,
        "The project's limit is reached",
        "Ask for less, wait until workloads of the project end, or have the limit raised.",
    ),
    "QueueDoesNotExist": Cause(
        CauseKind.QUEUE,
        "The project has no queue on the cluster",
        "Ask the administrator: Trainyard makes the queue when it may write queues there.",
    ),
}
OWN_IMAGE = (
    "Check the image's name and tag, and that the cluster may pull it: a private registry "
    "needs a credential. Then Copy & edit."
)
FETCHERS_IMAGE = (
    "It fetches the Git and S3 data sources and is not the workload's own. Ask an administrator: "
    "Trainyard's settings TRAINYARD_GIT_IMAGE and TRAINYARD_S3_IMAGE name others."
)


def grouped(group: Manifest | None) -> Cause | None:
    """What KAI says of the whole gang; ``None`` while it says nothing against it."""
    status = (group or {}).get("status") or {}
    for condition in status.get("schedulingConditions") or []:
        if condition.get("type") != "UnschedulableOnNodePool" or condition.get("status") != "True":
            continue
        told = condition.get("reasons") or [condition]
        known = [(KAI[one["reason"]], one) for one in told if one.get("reason") in KAI]
        if known:
            cause, one = known[0]
            said = one.get("message") or one["reason"]
            return Cause(cause.kind, cause.title, cause.todo, said=said)
        said = next((one["message"] for one in told if one.get("message")), "")
        if said:
            title = "The scheduler has no room for the whole gang"
            todo = "Ask for fewer or smaller pods, or wait until other workloads end."
            return Cause(CauseKind.GANG, title, todo, said=said)
    return None


def not_made(warnings: Iterable[Manifest]) -> Cause | None:
    """Why the pods of a job are not made, from the last event that says so."""
    said = [str(one.get("message", "")) for one in warnings if NOT_MADE.match(one["reason"])]
    if not said:
        return None
    quota = EXCEEDED.search(said[-1])
    if quota:
        title = f"The namespace's ResourceQuota {quota[1]} is used up"
        todo = (
            f"It allows {quota[4]} and {quota[3]} is used. Ask for less, wait until other "
            "workloads of the project end, or have it raised."
        )
        return Cause(CauseKind.QUOTA, title, todo, said=said[-1])
    if UNPREPARED.search(said[-1]):
        title = "The namespace has no service account yet"
        todo = "The cluster makes one within seconds. When this lasts, ask its administrator."
        return Cause(CauseKind.OPERATOR, title, todo, said=said[-1])
    todo = "Change what the cluster refuses, then Copy & edit; or ask its administrator."
    return Cause(CauseKind.REFUSED, "The cluster refuses to make its pods", todo, said=said[-1])


def stuck(
    waiting: Manifest, image: str, warnings: Iterable[Manifest], *, fetches: bool = False
) -> Cause | None:
    """Why a container that has its node does not start; ``fetches`` is one for a data source."""
    reason, said = waiting.get("reason", ""), str(waiting.get("message") or "")
    words = f"{reason}: {said}".rstrip(": ")
    if reason in IMAGE:
        pulls = [str(one.get("message", "")) for one in warnings if one["reason"] == "Failed"]
        detail = next((text for text in pulls if "pull" in text), words)
        title = f"The image {image} cannot be pulled"
        todo = FETCHERS_IMAGE if fetches else OWN_IMAGE
        return Cause(CauseKind.IMAGE, title, todo, said=detail)
    if reason in CONFIG:
        title, todo = _missing(said)
        return Cause(
            CauseKind.MISSING,
            title or "The container cannot be made",
            todo or "Change what the message names, then Copy & edit.",
            said=words,
        )
    return None


def failing(how: str) -> Cause:
    """The program of a rank ended, as ``how`` says, and kubelet pauses before it starts it anew."""
    title = "The program of a rank failed and waits to be started again"
    todo = (
        "Read the rank's log for why. It is started again, after longer and longer pauses, until "
        "the backoff limit is reached. Stop the workload to end it now."
    )
    return Cause(CauseKind.OTHER, title, todo, said=how)


def unprepared(ended: Manifest) -> Cause:
    """What has to run before the program fails, with its ``name`` and exit code. It is tried again,
    to fetch data as often as the backoff limit says (``giving_up``), else for ever."""
    container, said = ended["name"], last_words(ended)
    words = f"a rank did not start: {container} exited with code {ended['exitCode']}"
    if not container.startswith(FETCHER):
        return Cause(CauseKind.OTHER, f"{words[:1].upper()}{words[1:]}", said=said)
    todo = "Check the repository or bucket, its revision and its credential, then Copy & edit."
    return Cause(CauseKind.DATA, f"The data could not be fetched: {words}", todo, said=said)


def last_words(ended: Manifest) -> str:
    """The last line of what a container said of its end, which the cluster keeps a little of; or
    the line in which ssh said why, and what it means."""
    lines = [line.strip() for line in str(ended.get("message") or "").splitlines()]
    lines = [line for line in lines if line and line not in GITS_ADVICE]
    for why, meaning in SSH.items() if ended["name"].startswith(FETCHER) else ():
        if telling := next((line for line in lines if why in line), ""):
            return f"{telling.strip('@ .')[:MOST_WORDS]}: {meaning}"
    return lines[-1][:MOST_WORDS].rstrip(".") if lines else ""


def unmounted(warnings: Iterable[Manifest]) -> Cause | None:
    """Why a pod's volumes are not there, from the last event that says so."""
    said = [str(one.get("message", "")) for one in warnings if one["reason"] in MOUNT]
    if not said:
        return None
    telling = next((text for text in reversed(said) if NAMED.search(text)), said[-1])
    title, todo = _missing(telling)
    return Cause(
        CauseKind.MISSING if title else CauseKind.STORAGE,
        title or "A volume cannot be mounted",
        todo or "Check that the data source is reachable from the node, then Copy & edit.",
        said=telling,
    )


def _missing(said: str) -> tuple[str, str]:
    named = NAMED.search(said)
    if named is None:
        return "", ""
    kind = KINDS[named[1].lower()]
    title = f"The {kind} {named[2]} is missing"
    return title, f"Create the {kind} in the project's namespace, or leave it out."
