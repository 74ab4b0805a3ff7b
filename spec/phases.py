"""The life of a workload: its phases, the legal moves between them, and the reasons for a move.

Phases are Run:ai's. A user's wish (stop, run, delete) is a phase too, so there is no second flag.
Every set of phases that the code asks about has its name here.
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
# Observed moves may skip a step: a short training can be over before anyone looked, and one that
# was stopped on the cluster itself may have no pods any more when it is seen.
_ENDS = frozenset({_P.COMPLETED, _P.FAILED})
_SEEN = _ENDS | {_P.STOPPED}
_AHEAD = frozenset({_P.INITIALIZING, _P.RUNNING, _P.DEGRADED}) | _SEEN
_WISHES = frozenset({_P.STOPPING, _P.DELETING})
MOVES: dict[Phase, frozenset[Phase]] = {
    _P.CREATING: _WISHES | _AHEAD | {_P.PENDING},
    _P.RESUMING: _WISHES | _AHEAD | {_P.PENDING},
    _P.PENDING: _WISHES | _AHEAD | {_P.UNKNOWN},
    _P.INITIALIZING: _WISHES | _SEEN | {_P.RUNNING, _P.DEGRADED, _P.PENDING, _P.UNKNOWN},
    # Back to Pending: preempted.
    _P.RUNNING: _WISHES | _SEEN | {_P.DEGRADED, _P.PENDING, _P.UNKNOWN},
    _P.DEGRADED: _WISHES | _SEEN | {_P.RUNNING, _P.PENDING, _P.UNKNOWN},
    _P.UNKNOWN: _WISHES | _AHEAD | {_P.PENDING},
    # A training may finish, or fail, while it is asked to stop.
    _P.STOPPING: _ENDS | {_P.STOPPED, _P.DELETING},
    _P.STOPPED: frozenset({_P.RESUMING, _P.DELETING}),
    _P.COMPLETED: frozenset({_P.DELETING}),
    _P.FAILED: frozenset({_P.DELETING}),
    _P.DELETING: frozenset(),
}
#: Never runs again.
TERMINAL = frozenset({Phase.COMPLETED, Phase.FAILED})
#: No rank of it runs any more; a stopped one may run again.
ENDED = TERMINAL | {Phase.STOPPED}
#: Asked to stop: it does, or did.
TOLD_TO_STOP = frozenset({Phase.STOPPING, Phase.STOPPED})
#: Asked to run, and nobody took it up yet.
ASKED_TO_RUN = frozenset({Phase.CREATING, Phase.RESUMING})
#: What counts as pending time; run time is that of ``AT_WORK``.
WAITING = ASKED_TO_RUN | {Phase.PENDING}
#: Holds resources of its cluster, or is about to give them back.
HOLDING = frozenset(
    {Phase.INITIALIZING, Phase.RUNNING, Phase.DEGRADED, Phase.STOPPING, Phase.UNKNOWN}
)
ACTIVE = HOLDING | WAITING
#: The cluster should have it. A cluster that queues for itself shows Pending too; elsewhere a
#: pending workload has not been seen in its run yet.
HANDED_OVER = HOLDING | {Phase.PENDING}
#: And where a cluster keeps the job of a workload that was stopped.
KEPT_THERE = HANDED_OVER | {Phase.STOPPED}
#: Before and after all ranks of a run were there for the first time.
GATHERING = frozenset({Phase.PENDING, Phase.INITIALIZING})
AT_WORK = frozenset({Phase.RUNNING, Phase.DEGRADED})
#: Its ranks have their places.
STARTED = AT_WORK | {Phase.INITIALIZING}
#: Lacks ranks, before it ran or since.
INCOMPLETE = frozenset({Phase.PENDING, Phase.DEGRADED})
#: May wait for something with a cause: also for its image, or for a rank that was lost.
HELD_UP = WAITING | INCOMPLETE | {Phase.INITIALIZING}
#: Somebody should look at it.
NEEDS_ATTENTION = frozenset({Phase.FAILED, Phase.DEGRADED, Phase.UNKNOWN})
#: Something is happening: the badge's dot pulses.
IN_MOTION = ASKED_TO_RUN | {Phase.INITIALIZING, Phase.RUNNING, Phase.STOPPING, Phase.DELETING}
#: Can be stopped by a user.
STOPPABLE = frozenset(p for p, moves in MOVES.items() if Phase.STOPPING in moves)


class RankPhase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    STOPPED = "Stopped"


#: A rank that has not ended.
RANK_ACTIVE = frozenset({RankPhase.PENDING, RankPhase.RUNNING})


class Reason(StrEnum):
    """Why a workload is where it is. Closed: pages, filters and alerts rely on these words."""

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
    REFUSED = "Refused"
    LOST = "Lost"
    UNKNOWN = "Unknown"
