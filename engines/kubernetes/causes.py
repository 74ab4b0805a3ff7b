"""Why a job's pods do not run: from pods, pod groups and events to one cause. Pure."""

import re
from collections.abc import Iterable

from engines.base import Manifest
from engines.kubernetes.ends import EXEC, exit_words, failure_reason, last_words, unstarted
from engines.kubernetes.sources import FETCHER
from spec.causes import Cause, CauseKind

#: Waiting for these ends only when somebody acts.
IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError"})
MOUNT = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
NOT_MADE = re.compile(r"^FailedCreate")  # the operator's FailedCreatePod, a Job's FailedCreate
NAMED = re.compile(r'(secret|configmap|persistentvolumeclaim)s? "([^"]+)" not found', re.IGNORECASE)
KINDS = {"secret": "Secret", "configmap": "ConfigMap", "persistentvolumeclaim": "claim"}
#: Pods of a namespace just made may come before its service account, and are tried again.
UNPREPARED = re.compile(r"No API token found for service account|serviceaccount .+ not found")
EXCEEDED = re.compile(r"exceeded quota: ([^,]+), requested: (.+?), used: (.+?), limited: (.+)$")

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
    if reason == "RunContainerError":
        return unstartable(waiting)
    if reason in CONFIG:
        title, todo = _missing(said)
        return Cause(
            CauseKind.MISSING,
            title or "The container cannot be made",
            todo or "Change what the message names, then Copy & edit.",
            said=words,
        )
    return None


def failing(ended: Manifest) -> Cause:
    """The program of a rank ended, and kubelet pauses before it starts it anew."""
    if unstarted(ended):
        return unstartable(ended)
    title = "The program failed and waits to be started again"
    todo = (
        "Read the rank's log for why. It is started again, after longer and longer pauses, until "
        "the backoff limit is reached. Stop the workload to end it now."
    )
    return _of_the_program(ended, title, todo, said=exit_words(ended))


def over(ended: Manifest) -> Cause:
    """A rank failed while others are not there yet, and its pod is not started again."""
    if unstarted(ended):
        return unstartable(ended)
    todo = (
        "Read the rank's log for why, then Copy & edit. Where the operator does not make its pod "
        "anew, Stop the workload to end it."
    )
    words = exit_words(ended)
    return _of_the_program(ended, f"The rank {words}", todo, said=words)


def unstartable(ended: Manifest) -> Cause:
    why = unstarted(ended)
    if command := EXEC.match(why):
        title = f"{command['program'][:100]} cannot be started: {command['why'][:100]}"
        todo = "Check the command, and that the image holds what it names, then Copy & edit."
    else:
        title = "The container cannot be started"
        todo = (
            "Read what the node's runtime says. Where that is about GPUs, their driver or a mount, "
            "ask the cluster's administrator."
        )
    return _of_the_program(ended, title, todo, said=why)


def _of_the_program(ended: Manifest, title: str, todo: str, said: str) -> Cause:
    return Cause(CauseKind.PROGRAM, title, todo, said=said, own_reason=failure_reason(ended))


def unprepared(ended: Manifest) -> Cause:
    """What has to run before the program fails, with its ``name`` and exit code. It is tried again,
    to fetch data as often as the backoff limit says (``giving_up``), else for ever."""
    container, said = ended["name"], last_words(ended)
    words = f"a rank did not start: {container} exited with code {ended['exitCode']}"
    if not container.startswith(FETCHER):
        return Cause(CauseKind.OTHER, f"{words[:1].upper()}{words[1:]}", said=said)
    todo = "Check the repository or bucket, its revision and its credential, then Copy & edit."
    return Cause(CauseKind.DATA, f"The data could not be fetched: {words}", todo, said=said)


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
