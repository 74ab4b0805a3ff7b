"""Failures that the engine reports; few of them are in a log too."""

from spec.phases import Reason
from workloads.diagnosis.base import FailureClass, Fault

TIME_LIMIT = FailureClass(
    "time-limit",
    "Time limit reached",
    Fault.PROGRAM,
    "It ran for as long as its time limit allows.",
    "Run continues it from its last checkpoint. If its own time limit is used up, it gets as much "
    "time again.",
    line_patterns=(r"CANCELLED AT .* DUE TO TIME LIMIT|job killed: walltime \S+ exceeded limit",),
    reasons=frozenset({Reason.DEADLINE_EXCEEDED}),
)
CLASSES = (
    FailureClass(
        "preempted",
        "Preempted",
        Fault.CLUSTER,
        "It was preempted by other workloads.",
        "Give it a higher priority, or a backoff limit so that it starts again automatically, then "
        "Copy & edit.",
        line_patterns=(r"CANCELLED AT .* DUE TO PREEMPTION",),
        reasons=frozenset({Reason.PREEMPTED}),
    ),
    FailureClass(
        "grace-period",
        "Did not stop in time",
        Fault.PROGRAM,
        "It was asked to stop and did not within the grace period.",
        "Let the training save and end when it gets SIGTERM, or raise the grace period.",
        reasons=frozenset({Reason.GRACE_PERIOD_EXCEEDED}),
    ),
    TIME_LIMIT,
    FailureClass(
        "supervisor-lost",
        "Supervisor lost",
        Fault.TRAINYARD,
        "The Trainyard process that supervises the ranks ended before they did.",
        "Check whether the machine ran out of memory or was restarted, then Copy & edit. If "
        "neither, it is a bug in Trainyard: please report it.",
        reasons=frozenset({Reason.LOST}),
        message_pattern=r"[Ss]upervisor",
    ),
    FailureClass(
        "evicted",
        "Evicted",
        Fault.CLUSTER,
        "Its cluster took a pod away from it, for example to drain a node.",
        "Give it a backoff limit, so that it starts again automatically, and let it save "
        "checkpoints and resume from them, then Copy & edit.",
        reasons=frozenset({Reason.LOST}),
        message_pattern=r"^was evicted",
    ),
    FailureClass(
        "lost",
        "Lost by the cluster",
        Fault.CLUSTER,
        "The cluster no longer has this workload's objects.",
        "Check whether someone deleted it there, or the cluster was reset. Copy & edit starts it "
        "again.",
        reasons=frozenset({Reason.LOST}),
    ),
    FailureClass(
        "image-unknown",
        "Image not available",
        Fault.ENVIRONMENT,
        "The cluster does not have the image of the environment.",
        "Choose an environment whose image this cluster has, or give it a command of its own, then "
        "Copy & edit.",
        reasons=frozenset({Reason.IMAGE_UNKNOWN}),
    ),
    FailureClass(
        "refused",
        "Refused by the cluster",
        Fault.CLUSTER,
        "The cluster refused to start it.",
        "Change what the cluster refused, then Copy & edit.",
        reasons=frozenset({Reason.REFUSED}),
    ),
)
