"""Explains why Slurm makes a job wait. Its reasons are free text, so they are recognized by their
beginning. Unknown reasons are shown unchanged."""

import re
from dataclasses import replace
from datetime import datetime

from engines.slurm.charging import cause_of_excess
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

WAIT = "Wait, or ask for fewer or smaller pods."
EDIT = "It will not start as it is. Copy & edit it"
#: The beginning of the reason, the kind of cause, what it means, and what to do.
CAUSES: tuple[tuple[str, CauseKind, str, str], ...] = (
    ("Resources", CauseKind.CAPACITY, "The nodes that fit are in use", WAIT),
    ("Priority", CauseKind.CAPACITY, "Jobs with a higher priority come first", WAIT),
    ("None", CauseKind.CAPACITY, "Slurm has not looked at it yet", "It does so within seconds."),
    ("BeginTime", CauseKind.CAPACITY, "Slurm starts it at a later time", "Wait."),
    ("Cleaning", CauseKind.CAPACITY, "Slurm is still cleaning up after its last start", "Wait."),
    (
        "Nodes required for job are DOWN, DRAINED",
        CauseKind.NODES,
        "The nodes that it needs are down, drained or reserved",
        "Ask the administrators of the cluster, or choose another node pool.",
    ),
    (
        "ReqNodeNotAvail",
        CauseKind.NODES,
        "Nodes that it needs are not available",
        "Ask the administrators of the cluster, or choose another node pool.",
    ),
    ("NodeDown", CauseKind.NODES, "A node that it needs is down", "Ask the administrators."),
    (
        "PartitionNodeLimit",
        CauseKind.NODES,
        "It asks for more nodes than the partition allows",
        f"{EDIT} with fewer workers, or choose another node pool.",
    ),
    (
        "PartitionTimeLimit",
        CauseKind.NODES,
        "Its time limit is longer than the partition allows",
        f"{EDIT} with a shorter time limit, or choose another node pool.",
    ),
    (
        "PartitionConfig",
        CauseKind.REFUSED,
        "Its account or QOS is not allowed in the partition",
        f"{EDIT} with another node pool, or ask the administrators of the cluster.",
    ),
    (
        "Job's account not permitted",
        CauseKind.REFUSED,
        "Its account is not allowed in the partition",
        f"{EDIT} with another node pool, or ask the administrators of the cluster.",
    ),
    (
        "AccountNotAllowed",
        CauseKind.REFUSED,
        "Its account is not allowed in the partition",
        f"{EDIT} with another node pool, or ask the administrators of the cluster.",
    ),
    ("PartitionDown", CauseKind.NODES, "The partition is down", "Ask the administrators."),
    ("PartitionInactive", CauseKind.NODES, "The partition is inactive", "Ask the administrators."),
    (
        "BadConstraints",
        CauseKind.NODES,
        "No node matches its request",
        f"{EDIT} with another node type.",
    ),
    ("Reservation", CauseKind.CAPACITY, "The nodes are reserved", "Wait until it ends."),
    ("Licenses", CauseKind.CAPACITY, "A license that it needs is in use", "Wait."),
    (
        "JobHeldUser",
        CauseKind.REFUSED,
        "The job is held",
        "Release it on the cluster: scontrol release.",
    ),
    (
        "JobHeldAdmin",
        CauseKind.REFUSED,
        "An administrator of the cluster holds the job",
        "Ask the administrators of the cluster.",
    ),
    (
        "job requeued in held state",
        CauseKind.REFUSED,
        "The job was requeued and is held",
        "Release it on the cluster: scontrol release.",
    ),
    (
        "launch failed requeued held",
        CauseKind.REFUSED,
        "A node could not start it, so Slurm holds it",
        "Ask the administrators of the cluster, then release it: scontrol release.",
    ),
    ("QOSMaxWall", CauseKind.NODES, "Its time limit is longer than its QOS allows", EDIT + "."),
    (
        "AssocMaxWall",
        CauseKind.NODES,
        "Its time limit is longer than its account allows",
        EDIT + ".",
    ),
    (
        "QOSNotAllowed",
        CauseKind.REFUSED,
        "Its QOS is not allowed in the partition",
        f"{EDIT} with another QOS or node pool.",
    ),
    ("QOSMax", CauseKind.QUOTA, "A limit of its QOS is reached", "Wait until jobs of it end."),
    ("QOSGrp", CauseKind.QUOTA, "All that its QOS may use is in use", "Wait until jobs of it end."),
    ("QOS", CauseKind.QUOTA, "A limit of its QOS is reached", "Wait until jobs of it end."),
    (
        "AssocGrp",
        CauseKind.QUOTA,
        "All that its account may use is in use",
        "Wait until jobs of the account end, or have its limit raised.",
    ),
    (
        "Assoc",
        CauseKind.QUOTA,
        "A limit of its account is reached",
        "Wait until jobs of the account end, or have its limit raised.",
    ),
    ("MaxMemPerLimit", CauseKind.NODES, "It asks for more memory than allowed", EDIT + "."),
    ("InvalidAccount", CauseKind.REFUSED, "Its account does not exist", f"{EDIT} with another."),
    ("InvalidQOS", CauseKind.REFUSED, "It may not use its QOS", f"{EDIT} with another."),
    (
        "DependencyNeverSatisfied",
        CauseKind.OTHER,
        "The job that it waits for did not end as it has to",
        f"{EDIT} with another dependency.",
    ),
    ("Dependency", CauseKind.OTHER, "It waits for another job", "Wait until that one ends."),
)
#: Limits of a single job, which no end of other jobs changes: QOSMaxGRESPerJob, QOSMinGRES.
LIMIT_OF_JOB = re.compile(r"(QOS|Assoc)(Max\w*Per(Job|Node)(Limit)?|Min\w+)\Z")
#: Limits of an account or a QOS, which a job may exceed by itself.
LIMIT_OF_ALL = ("QOS", "Assoc")
OWNERS = {"QOS": "QOS", "Assoc": "account"}
HELD = ("JobHeld", "job requeued in held state", "launch failed requeued held")


def cause_of(reason: str, start: datetime | None = None, *, excess: str = "") -> Cause:
    """Return the cause for a reason of Slurm. ``start`` is the time at which Slurm expects the job
    to start, if it reports one. ``excess`` says which limit the job exceeds by itself."""
    when = f" Slurm expects it to start at {start:%Y-%m-%d %H:%M} UTC." if start else ""
    if reason.startswith(HELD):
        when = ""  # Slurm computes it as if the job were not held
    if reason.startswith(LIMIT_OF_ALL) and (cause := cause_of_excess(excess)):
        return replace(cause, said=reason)
    if (match := LIMIT_OF_JOB.match(reason)) and "Wall" not in reason:
        bound = "less" if match[2].startswith("Min") else "more"
        title = f"It asks for {bound} than its {OWNERS[match[1]]} allows one job"
        todo = f"{EDIT}."
        never = Reason.NEVER_FITS
        return Cause(CauseKind.QUOTA, title, todo, said=reason, precise_reason=never)
    for sign, kind, title, todo in CAUSES:
        if reason.startswith(sign):
            precise_reason = Reason.NEVER_FITS if todo.startswith(EDIT) else None
            return Cause(kind, title, f"{todo}{when}", said=reason, precise_reason=precise_reason)
    todo = "Slurm gives no more than this reason; ask the administrators of the cluster." + when
    return Cause(CauseKind.OTHER, f"Slurm keeps it waiting: {reason}", todo, said=reason)
