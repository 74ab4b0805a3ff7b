"""The ranks of a gang that runs without an operator, as its objects note them.

All ranks are pods of one Indexed Job, or each has a Job of its own. Then the Job of the rank that
leads is the job of the workload. It owns the others, the *followers*, which thus go with it.
"""

from collections.abc import Iterable

from engines.base import Manifest
from engines.kubernetes.labels import COMPLETION_INDEX, LEAD_ONLY, RANK, ROLES
from spec.workload import GangRole, Role

Slot = tuple[str, int]  # the name of a role, and the index of a rank in it


def describe_roles(roles: Iterable[GangRole]) -> str:
    """The roles in the order of their ranks, such as ``master=1 worker=3``."""
    return " ".join(f"{role.name}={role.count}" for role in roles)


def read_slots(job: Manifest) -> list[Slot]:
    """The slots of a Job in rank order. A Job without the annotation runs a single worker."""
    text = str((job["metadata"].get("annotations") or {}).get(ROLES, ""))
    slots: list[Slot] = []
    for part in text.split():
        name, _, count = part.partition("=")
        if count.isdigit():
            slots += [(name, index) for index in range(int(count))]
    return slots or [(Role.WORKER, 0)]


def slot_of(pod: Manifest, slots: list[Slot]) -> Slot:
    """The slot of a pod of a Job. A pod of a rank that the gang does not have is in none of
    ``slots``."""
    labels = pod["metadata"].get("labels") or {}
    text = str(labels.get(RANK) or labels.get(COMPLETION_INDEX) or 0)
    rank = int(text) if text.isdigit() else 0
    return slots[rank] if rank < len(slots) else ("", rank)


def lead_role(job: Manifest, slots: list[Slot]) -> str:
    """The role that leads: that of the job's own rank where each rank has a Job."""
    return slot_of(job, slots)[0] if has_followers(job) else Role.MASTER


def has_followers(job: Manifest) -> bool:
    """Whether the other ranks have Jobs of their own."""
    return RANK in (job["metadata"].get("labels") or {})


def is_follower(job: Manifest) -> bool:
    return has_followers(job) and bool(job["metadata"].get("ownerReferences"))


def is_owned_by(item: Manifest, owner: Manifest) -> bool:
    owners = item["metadata"].get("ownerReferences") or ()
    return any(one["uid"] == owner["metadata"]["uid"] for one in owners)


def ignores_followers(job: Manifest) -> bool:
    """Whether the gang ends as its lead does, whatever became of the others."""
    return LEAD_ONLY in (job["metadata"].get("annotations") or {})
