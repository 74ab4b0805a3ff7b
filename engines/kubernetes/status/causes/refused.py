"""Why the pods of a job are not created, from events that quote the API server. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from engines.base import Manifest
from engines.kubernetes.client.outage import ending_namespace_cause, webhook_cause
from engines.kubernetes.client.quotas import nothing_held, quota_cause
from engines.kubernetes.status.events import event_time
from spec.problems.causes import Cause, CauseKind

NOT_CREATED = re.compile(r"^FailedCreate")  # FailedCreatePod of operators, FailedCreate of Jobs
#: In a new namespace pods may precede the service account; creating them is retried.
UNPREPARED = re.compile(r"No API token found for service account|serviceaccount .+ not found")
#: Kueue's webhook looks a job up in a cache that follows the cluster with a delay.
UNKNOWN_JOB = re.compile(
    r'admission webhook "mpod\.kb\.io" denied the request: \S+ "[^"]+" not found'
)
LIMITED = re.compile(
    r"(?P<bound>maximum|minimum) (?P<what>\S+) usage per (?P<per>\w+) is (?P<most>[^,\s]+)"
)
LONGEST_REASON = 200  # characters of a policy's or webhook's message in a title
COPY = "then Copy & edit; or ask the cluster's administrator."
CHANGE = f"Change what it names, {COPY}"
HELD_RESOURCES = (
    "Until then, the existing pods hold their resources. Stop the workload to release them."
)


@dataclass(frozen=True)
class RefusalRule:
    """How to explain one of the API server's refusals. ``{name}`` in the texts is what the
    pattern's group of that name matched."""

    pattern: str
    title: str
    todo: str


REFUSALS = (
    RefusalRule(
        r"failed quota: (?P<quota>[^:]+): must specify (?P<fields>.+?)(?: for: .+)?$",
        "The namespace's ResourceQuota {quota} demands {fields} for each container",
        f"Set it in the compute resource, {COPY} A LimitRange can set a default.",
    ),
    RefusalRule(
        r'violates PodSecurity "(?P<level>[^":]+)',
        "The namespace's Pod Security level {level} refuses its pods",
        f"Change what it names under Security, {COPY}",
    ),
    RefusalRule(
        r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '[^']+' denied request: "
        r"(?P<why>[^\n]+)",
        "The policy {policy} refuses its pods: {why}",
        f"Change what the policy demands, {COPY}",
    ),
    RefusalRule(
        r"policy '(?P<policy>[^']+)' with binding '[^']+' denied request: (?P<why>[^\n]+)",
        "The policy {policy}, which changes pods, fails: {why}",
        "Ask the cluster's administrator to correct the MutatingAdmissionPolicy.",
    ),
    RefusalRule(
        r'admission webhook "(?P<webhook>[^"]+)" denied the request: (?P<why>[^\n]+)',
        "The admission webhook {webhook} refuses its pods: {why}",
        CHANGE,
    ),
    RefusalRule(
        r'admission webhook "(?P<webhook>[^"]+)" denied the request',
        "The admission webhook {webhook} refuses its pods",
        CHANGE,
    ),
    RefusalRule(
        r'Invalid value: "(?P<request>[^"]+)": must be less than or equal to (?P<what>\S+) limit '
        r"of (?P<limit>\S+)",
        "Its {what} request of {request} is above the {what} limit of {limit}",
        "If the workload sets no such limit, a LimitRange of the namespace does. Set a limit, or "
        f"ask for less, in the compute resource, {COPY}",
    ),
    RefusalRule(
        r"(?P<what>\S+) max limit to request ratio per \w+ is (?P<most>[^,\s]+)",
        "The namespace's LimitRange allows a {what} limit of at most {most} times the request",
        f"Change the compute resource, {COPY}",
    ),
    RefusalRule(
        r'RuntimeClass "(?P<name>[^"]+)" not found',
        "The cluster has no RuntimeClass {name}",
        "KAI asks for the RuntimeClass nvidia for each pod with GPUs. Ask the cluster's "
        "administrator to install it; NVIDIA's GPU operator does.",
    ),
    RefusalRule(
        r"no PriorityClass with name (?P<name>\S+) was found",
        "The cluster has no PriorityClass {name}",
        f"Choose another priority, {COPY}",
    ),
)
NO_PODS_YET = Cause(
    CauseKind.OPERATOR,
    "Waiting for the operator to create the pods",
    "If this persists, the training operator is not running: ask the cluster's administrator.",
)
PODS_GONE = replace(
    NO_PODS_YET, title="All its pods are gone; waiting for the operator to create new ones"
)
NO_POD_YET = Cause(
    CauseKind.OPERATOR,
    "Waiting for the cluster to create the pod",
    "If this persists, its controllers are not running: ask the cluster's administrator.",
)
#: No fault of the cluster: between two pods of a Job it waits for the end of the first, and pauses.
POD_GONE = Cause(
    CauseKind.OTHER,
    "Its pod is gone; waiting for the cluster to create a new one",
    "The cluster pauses for 10 seconds first, and for longer after repeated failures. If no pod "
    "comes for minutes, its controllers are not running: ask the cluster's administrator.",
)


def no_pods_cause(*, plain: bool, again: bool) -> Cause:
    """The cause while no reason is reported. ``plain``: no operator is involved."""
    if plain:
        return POD_GONE if again else NO_POD_YET
    return PODS_GONE if again else NO_PODS_YET


def creation_failure(
    warnings: Iterable[Manifest],
    *,
    since: datetime | None = None,
    amount_of_gang: Callable[[str], Decimal] = nothing_held,
) -> Cause | None:
    """The cause in the last event about a failed creation, if it is not older than ``since``.
    ``amount_of_gang`` is what the gang's pods count for in a quota, see ``client/quotas.py``."""
    telling = [one for one in warnings if NOT_CREATED.match(one["reason"])]
    if not telling or (since and event_time(telling[-1]) < since):
        return None
    said = str(telling[-1].get("message", ""))
    return quota_cause(said, amount_of_gang) or _passing_cause(said) or _refusal_cause(said)


def _refusal_cause(said: str) -> Cause:
    """The cause in the message with which the API server refused a pod."""
    if limits := list(_limits_in_words(said)):
        title = f"The namespace's LimitRange allows {' and '.join(limits)}"
        todo = f"Change the compute resource, {COPY}"
        return Cause(CauseKind.REFUSED, title, todo, said=said)
    for refusal in REFUSALS:
        if match := re.search(refusal.pattern, said):
            names = {name: text[:LONGEST_REASON] for name, text in match.groupdict().items()}
            title = refusal.title.format(**names)
            return Cause(CauseKind.REFUSED, title, refusal.todo, said=said)
    why = said.rpartition(" is forbidden: ")[2].removeprefix("Error creating: ")
    title = f"The cluster refuses to create its pods: {why[:LONGEST_REASON]}".rstrip(": ")
    return Cause(CauseKind.REFUSED, title, f"Change what the cluster refuses, {COPY}", said=said)


def _passing_cause(said: str) -> Cause | None:
    """The cause if the pods can be created later as they are; ``None`` if not."""
    if UNPREPARED.search(said):
        title = "The namespace has no service account yet"
        todo = "The cluster creates one within seconds. If this persists, ask its administrator."
        return Cause(CauseKind.OPERATOR, title, todo, said=said)
    if UNKNOWN_JOB.search(said):
        title = "Kueue does not know the job yet"
        todo = "It does within seconds. If this persists, ask the cluster's administrator."
        return Cause(CauseKind.OPERATOR, title, todo, said=said)
    return webhook_cause(said) or ending_namespace_cause(said)


def _limits_in_words(said: str) -> Iterator[str]:
    """The limits of a LimitRange that the pods break."""
    for limit in LIMITED.finditer(said):
        bound = "at most" if limit["bound"] == "maximum" else "no less than"
        most = limit["most"].rstrip(".")
        yield f"{bound} {most} {limit['what']} for each {limit['per'].lower()}"


def partial_creation(cause: Cause, here: int, size: int) -> Cause:
    """The cause if only some pods were created: the gang waits for the rest."""
    title = f"Only {here} of {size} pods were created: {cause.title[:1].lower()}{cause.title[1:]}"
    return replace(cause, title=title, todo=f"{cause.todo} {HELD_RESOURCES}")
