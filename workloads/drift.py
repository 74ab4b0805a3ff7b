"""What somebody does to a workload on its cluster, past Trainyard."""

from clusters.engines import engine_for
from engines.base import EngineRefused, Observation
from spec.phases import ACTIVE, Phase
from workloads import reconcile, services
from workloads.models import Workload

RESUMED = "It was resumed on the cluster, not by Trainyard."


def is_resumed(workload: Workload, seen: Observation) -> bool:
    """Whether a run that was seen stopped goes on, although nobody asked Trainyard for it.

    What was given up before it was ever seen, and starts late, is not resumed: it has to end.
    """
    return (
        workload.phase == Phase.STOPPED
        and workload.deleted_at is None
        and workload.run == seen.run == workload.observed_run
        and seen.sequence > workload.observed_sequence
        and seen.phase in ACTIVE - {Phase.STOPPING}
        and workload.cluster.capabilities.queues
    )


def follow(workload: Workload) -> None:
    """The next run, as Run would have made it: what it prints is kept apart from what was."""
    try:
        services.resume(workload, by=None, message=RESUMED)
        engine_for(workload.cluster).submit(reconcile.launch_of(workload))
    except services.NotPossible:
        return  # somebody pressed Run at this very moment
    except EngineRefused as refusal:
        reconcile.refused(workload, refusal)
