"""The tone in which each phase is shown; ``static/css/components.css`` gives it a colour."""

from spec.phases import Phase, RankPhase

TONES: dict[Phase, str] = {
    Phase.CREATING: "neutral",
    Phase.PENDING: "warning",
    Phase.INITIALIZING: "info",
    Phase.RUNNING: "info",
    Phase.RESUMING: "neutral",
    Phase.DEGRADED: "warning",
    Phase.STOPPING: "neutral",
    Phase.STOPPED: "neutral",
    Phase.COMPLETED: "success",
    Phase.FAILED: "danger",
    Phase.DELETING: "neutral",
    Phase.UNKNOWN: "warning",
}
RANK_TONES: dict[RankPhase, str] = {
    RankPhase.PENDING: "warning",
    RankPhase.RUNNING: "info",
    RankPhase.SUCCEEDED: "success",
    RankPhase.FAILED: "danger",
    RankPhase.STOPPED: "neutral",
}
#: Something is happening: the badge's dot pulses.
LIVE = frozenset(
    {
        Phase.CREATING,
        Phase.INITIALIZING,
        Phase.RUNNING,
        Phase.RESUMING,
        Phase.STOPPING,
        Phase.DELETING,
    }
)
