"""Explain what a ResourceQuota refuses, from the API server's message. Pure.

The server writes amounts as ``pods=1,requests.cpu=500m``, and lists only the resources that exceed
the quota.
"""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from engines.kubernetes.amounts import parse_amount
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

EXCEEDED = re.compile(
    r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+?), used: (?P<used>.+?), "
    r"limited: (?P<limited>.+)$"
)
#: Quotas of objects that stay as long as their workload, also when it has ended.
OF_OBJECTS = re.compile(
    r"^(?:count/|secrets$|configmaps$|services|persistentvolumeclaims$|requests\.storage$|"
    r".+\.storageclass\.storage\.k8s\.io/)"
)
RAISE = "or have it raised."
NEVER = (
    "It will never start unless the quota is raised: ask the cluster's administrator. Or ask for "
    "less by Copy & edit."
)


def nothing_held(name: str) -> Decimal:
    """The amount of a resource that the pods of a gang hold before the first is created."""
    return Decimal(0)


def quota_cause(said: str, held: Callable[[str], Decimal] = nothing_held) -> Cause | None:
    """The cause if a ResourceQuota refuses an object: it is used up, or too small for the object
    beside what its gang already holds of a resource, by the quota's name of that."""
    match = EXCEEDED.search(said)
    if match is None:
        return None
    quota = f"The namespace's ResourceQuota {match['quota']}"
    limited = match["limited"]
    if is_never_allowed(said):
        title = f"{quota} allows {limited}, and {match['requested']} is requested"
        return Cause(CauseKind.QUOTA, title, NEVER, said=said, precise_reason=Reason.NEVER_FITS)
    if is_never_allowed(said, held):
        title = f"{quota} allows {limited}, and its pods together request more"
        return Cause(CauseKind.QUOTA, title, NEVER, said=said, precise_reason=Reason.NEVER_FITS)
    todo = f"It allows {limited} and {match['used']} is used. "
    if any(OF_OBJECTS.match(name) for name in _amounts(limited)):
        todo += (
            "Ended workloads count as well: delete those of the project that are no longer needed, "
        )
    else:
        todo += "Ask for less, wait until other workloads of the project end, "
    return Cause(CauseKind.QUOTA, f"{quota} is used up", todo + RAISE, said=said)


def is_never_allowed(said: str, held: Callable[[str], Decimal] = nothing_held) -> bool:
    """Whether the message is about a quota that the object exceeds alone, or beside what is
    ``held``."""
    match = EXCEEDED.search(said)
    if match is None:
        return False
    requested = _amounts(match["requested"])
    limited = _amounts(match["limited"])
    try:
        return any(
            parse_amount(requested[name]) + held(name) > parse_amount(limited[name])
            for name in requested.keys() & limited.keys()
        )
    except InvalidOperation:  # a unit that no release uses yet
        return False


def _amounts(text: str) -> dict[str, str]:
    """Amounts by resource."""
    pairs = (part.strip().partition("=") for part in text.split(","))
    return {name: amount for name, _, amount in pairs}
