"""Phases of a workload, the legal moves between them, and the reasons for a move.

The phases are Run:ai's. A user's request (stop, run, delete) is a phase too, so that there is no
second flag to keep in step. Every set of phases that the code needs has its name here.
"""

from enum import StrEnum


class Phase(StrEnum):
    CREATING = "Creating"
    PENDING = "Pending"
    INITIALIZING = "Initializing"
    RUNNING = "Running"
    RESUMING = "Resuming"
    DEGRADED = "Degraded"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    COMPLETED = "Completed"
    FAILED = "Failed"
    DELETING = "Deleting"
    UNKNOWN = "Unknown"


_P = Phase
# Observed moves may skip steps: a short training can be over before anyone looked, and one that was
# stopped on the cluster may already have no pods when it is observed.
_ENDS = frozenset({_P.COMPLETED, _P.FAILED})
_OBSERVED_ENDS = _ENDS | {_P.STOPPED}
_LATER = frozenset({_P.INITIALIZING, _P.RUNNING, _P.DEGRADED}) | _OBSERVED_ENDS
_REQUESTS = frozenset({_P.STOPPING, _P.DELETING})
MOVES: dict[Phase, frozenset[Phase]] = {
    _P.CREATING: _REQUESTS | _LATER | {_P.PENDING},
    _P.RESUMING: _REQUESTS | _LATER | {_P.PENDING},
    _P.PENDING: _REQUESTS | _LATER | {_P.UNKNOWN},
    _P.INITIALIZING: _REQUESTS | _OBSERVED_ENDS | {_P.RUNNING, _P.DEGRADED, _P.PENDING, _P.UNKNOWN},
    # Back to Pending: preempted.
    _P.RUNNING: _REQUESTS | _OBSERVED_ENDS | {_P.DEGRADED, _P.PENDING, _P.UNKNOWN},
    _P.DEGRADED: _REQUESTS | _OBSERVED_ENDS | {_P.RUNNING, _P.PENDING, _P.UNKNOWN},
    _P.UNKNOWN: _REQUESTS | _LATER | {_P.PENDING},
    # A training may complete or fail while it is being stopped.
    _P.STOPPING: _ENDS | {_P.STOPPED, _P.DELETING},
    _P.STOPPED: frozenset({_P.RESUMING, _P.DELETING}),
    # For the exceptions to Resuming after an end, see ``Workload.can_run``.
    _P.COMPLETED: frozenset({_P.RESUMING, _P.DELETING}),
    _P.FAILED: frozenset({_P.RESUMING, _P.DELETING}),
    _P.DELETING: frozenset(),
}
#: Has ended by itself. It runs again only if somebody asks for that.
TERMINAL = frozenset({Phase.COMPLETED, Phase.FAILED})
#: Has no running ranks, and may run again.
ENDED = TERMINAL | {Phase.STOPPED}
#: Was asked to stop, and has perhaps done so.
STOP_REQUESTED = frozenset({Phase.STOPPING, Phase.STOPPED})
#: Was asked to run, and has not been taken up yet.
RUN_REQUESTED = frozenset({Phase.CREATING, Phase.RESUMING})
#: Counts as pending time; ``AT_WORK`` counts as running time.
WAITING = RUN_REQUESTED | {Phase.PENDING}
#: Holds resources of its cluster, or is about to give them back.
HOLDING_RESOURCES = frozenset(
    {Phase.INITIALIZING, Phase.RUNNING, Phase.DEGRADED, Phase.STOPPING, Phase.UNKNOWN}
)
ACTIVE = HOLDING_RESOURCES | WAITING
#: The cluster should have it. Pending is among these because a cluster with a queue of its own
#: reports it; elsewhere a pending workload has not been observed in its run.
HANDED_OVER = HOLDING_RESOURCES | {Phase.PENDING}
#: The same on a cluster that keeps the job of a stopped workload.
ON_KEEPING_CLUSTER = HANDED_OVER | {Phase.STOPPED}
#: It has a job on its cluster, or may have.
MAYBE_ON_CLUSTER = ON_KEEPING_CLUSTER | RUN_REQUESTED | {Phase.DELETING}
#: Before all ranks of a run have been ready together.
GATHERING = frozenset({Phase.PENDING, Phase.INITIALIZING})
AT_WORK = frozenset({Phase.RUNNING, Phase.DEGRADED})
#: If one of these was the previous phase, a workload that runs has not just started.
RAN_BEFORE = AT_WORK | {Phase.UNKNOWN}
#: The phases in which a preempted workload has given its resources back.
GIVEN_BACK = frozenset({Phase.PENDING, Phase.FAILED})
#: The phases in which a rule leaves a workload that it stopped.
STOPPED_OR_FAILED = frozenset({Phase.STOPPED, Phase.FAILED})
#: All ranks have a place.
STARTED = AT_WORK | {Phase.INITIALIZING}
#: Some ranks are missing, before it ran or since.
INCOMPLETE = frozenset({Phase.PENDING, Phase.DEGRADED})
#: May wait for something that has a cause, including an image, or a lost rank.
HELD_UP = WAITING | INCOMPLETE | {Phase.INITIALIZING}
#: May have a cause. A workload that runs has one if its programs have ended, and other containers
#: keep their pods.
MAY_HAVE_CAUSE = HELD_UP | {Phase.RUNNING}
#: Needs somebody's attention.
NEEDS_ATTENTION = frozenset({Phase.FAILED, Phase.DEGRADED, Phase.UNKNOWN})
#: Changes by itself: the dot of its badge pulses.
IN_MOTION = RUN_REQUESTED | {Phase.INITIALIZING, Phase.RUNNING, Phase.STOPPING, Phase.DELETING}
#: Users can stop it.
STOPPABLE = frozenset(p for p, moves in MOVES.items() if Phase.STOPPING in moves)


class RankPhase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    STOPPED = "Stopped"


#: The rank has not ended.
RANK_ACTIVE = frozenset({RankPhase.PENDING, RankPhase.RUNNING})


class Reason(StrEnum):
    """Why a workload is in its phase. A closed list: pages, filters and alerts rely on
    these words."""

    NONE = ""
    WAITING_FOR_QUOTA = "WaitingForQuota"
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    NEVER_FITS = "NeverFits"
    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    STOPPED_BY_USER = "StoppedByUser"
    RESUMED_BY_USER = "ResumedByUser"
    DELETED_BY_USER = "DeletedByUser"
    AUTO_DELETED = "AutoDeleted"
    RESTARTING = "Restarting"
    PREEMPTED = "Preempted"
    COMMAND_NOT_FOUND = "CommandNotFound"
    IMAGE_UNKNOWN = "ImageUnknown"
    RANK_FAILED = "RankFailed"
    OUT_OF_MEMORY = "OutOfMemory"
    GRACE_PERIOD_EXCEEDED = "GracePeriodExceeded"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    IDLE = "Idle"
    STOPPED_BY_RULE = "StoppedByRule"
    WILL_STOP_BY_RULE = "WillStopByRule"  # only of events, which warn
    REFUSED = "Refused"
    LOST = "Lost"
    UNKNOWN = "Unknown"


def counts_as_running(phase: str, reason: str) -> bool:
    """Whether the time of a workload counts as running. Between two attempts no rank runs."""
    return phase in AT_WORK and reason != Reason.RESTARTING
