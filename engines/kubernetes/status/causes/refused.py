"""Why the pods of a job are not created, from events that quote the API server. Pure."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.client.outage import webhook_cause
from engines.kubernetes.status.events import event_time
from spec.problems.causes import Cause, CauseKind

NOT_CREATED = re.compile(r"^FailedCreate")  # FailedCreatePod of operators, FailedCreate of Jobs
#: In a new namespace pods may precede the service account; creating them is retried.
UNPREPARED = re.compile(r"No API token found for service account|serviceaccount .+ not found")
EXCEEDED = re.compile(r"exceeded quota: ([^,]+), requested: (.+?), used: (.+?), limited: (.+)$")
LIMITED = re.compile(
    r"(?P<bound>maximum|minimum) (?P<what>\S+) usage per (?P<per>\w+) is (?P<most>[^,\s]+)"
)
STANDARD = re.compile(r'violates PodSecurity "(?P<level>[^":]+)')
DENIED = re.compile(r'admission webhook "(?P<webhook>[^"]+)" denied the request')
COPY = "then Copy & edit; or ask the cluster's administrator."
HELD_RESOURCES = (
    "Until then, the existing pods hold their resources. Stop the workload to release them."
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
POD_GONE = replace(NO_POD_YET, title="Its pod is gone; waiting for the cluster to create a new one")


def no_pods_cause(*, plain: bool, again: bool) -> Cause:
    """The cause while no reason is reported. ``plain``: no operator is involved."""
    if plain:
        return POD_GONE if again else NO_POD_YET
    return PODS_GONE if again else NO_PODS_YET


def creation_failure(
    warnings: Iterable[Manifest], *, since: datetime | None = None
) -> Cause | None:
    """The cause in the last event about a failed creation, if it is not older than ``since``."""
    telling = [one for one in warnings if NOT_CREATED.match(one["reason"])]
    if not telling or (since and event_time(telling[-1]) < since):
        return None
    said = str(telling[-1].get("message", ""))
    if quota := EXCEEDED.search(said):
        title = f"The namespace's ResourceQuota {quota[1]} is used up"
        todo = (
            f"It allows {quota[4]} and {quota[3]} is used. Ask for less, wait until other "
            "workloads of the project end, or have it raised."
        )
        return Cause(CauseKind.QUOTA, title, todo, said=said)
    if UNPREPARED.search(said):
        title = "The namespace has no service account yet"
        todo = "The cluster creates one within seconds. If this persists, ask its administrator."
        return Cause(CauseKind.OPERATOR, title, todo, said=said)
    if silent := webhook_cause(said):
        return silent
    return Cause(CauseKind.REFUSED, *_explain_refusal(said), said=said)


def _explain_refusal(said: str) -> tuple[str, str]:
    if limit := LIMITED.search(said):
        most = f"{limit['most']} {limit['what']}"
        per = limit["per"].lower()
        bound = "at most" if limit["bound"] == "maximum" else "no less than"
        title = f"The namespace's LimitRange allows {bound} {most} for each {per}"
        return title, f"Change the compute resource, {COPY}"
    if standard := STANDARD.search(said):
        title = f"The namespace's Pod Security level {standard['level']} refuses its pods"
        return title, f"Change what it names under Security, {COPY}"
    if denied := DENIED.search(said):
        title = f"The admission webhook {denied['webhook']} refuses its pods"
        return title, f"Change what it names, {COPY}"
    return "The cluster refuses to create its pods", f"Change what the cluster refuses, {COPY}"


def partial_creation(cause: Cause, here: int, size: int) -> Cause:
    """The cause if only some pods were created: the gang waits for the rest."""
    title = f"Only {here} of {size} pods were created: {cause.title[:1].lower()}{cause.title[1:]}"
    return Cause(cause.kind, title, f"{cause.todo} {HELD_RESOURCES}", said=cause.said)
