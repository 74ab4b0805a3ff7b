"""End workloads that have run for as long as their spec allows, on any cluster.

Only time spent running counts, in all runs together; waiting is free. An engine that enforces the
limit itself may be a little earlier, and leads to the same end.
"""

from typing import Any

from spec.formats.stored import as_mapping
from spec.imports.sbatch import time_limit_of_script
from spec.phases import Phase, Reason
from spec.problems import time_limit
from spec.workload import MAX_TIME_LIMIT_SECONDS, WorkloadSpec
from workloads.models import Workload
from workloads.scheduling.limits import stopping
from workloads.scheduling.limits.limited import workloads_with_limit

NEARLY = 0.1  # share of a time limit that is not worth another run


def limit_to_enforce(spec: WorkloadSpec) -> int | None:
    """Return the time limit in seconds that Trainyard enforces; ``None`` if there is none. Slurm
    itself enforces the limit in a batch script, from the start of each job."""
    limit = spec.time_limit_seconds
    return None if limit == time_limit_of_script(spec) else limit


def columns_of_raised_limit(workload: Workload) -> dict[str, Any]:
    """Return the columns for a time limit that another run can use, if the present one is nearly
    used up: as much again as was asked for. Empty if enough is left, or Slurm holds the limit."""
    limit = workload.time_limit_seconds
    if limit is None:
        return {}
    asked = as_mapping(as_mapping(workload.draft_json).get("values")).get("timeLimitSeconds")
    more = asked if isinstance(asked, int) else limit
    if limit - workload.running_total > more * NEARLY:
        return {}
    raised = min(limit + more, MAX_TIME_LIMIT_SECONDS)
    return {
        "time_limit_seconds": raised,
        "spec_json": workload.spec_json | {"timeLimitSeconds": raised},
    }


def raise_sentence(columns: dict[str, Any]) -> str:
    """Return a message about the columns of a raised limit; empty without one."""
    if raised := columns.get("time_limit_seconds"):
        return f"Its time limit was used up, so it is now {time_limit.format_duration(raised)}."
    return ""


def stop_over_limit() -> None:
    """Ask every workload to end that is over its time limit."""
    columns = ("phase", "reason", "phase_updated_at", "running_seconds")
    for workload, seconds in workloads_with_limit("time_limit_seconds", *columns):
        if workload.running_total >= seconds:
            stop_at_limit(Workload.objects.get(pk=workload.pk))


def stop_at_limit(workload: Workload) -> bool:
    """Ask every rank to end. ``False`` if it ended, or was asked to, meanwhile."""
    why = time_limit.time_limit_sentence(workload.spec_json["timeLimitSeconds"])
    return stopping.request_stop(workload, reason=Reason.DEADLINE_EXCEEDED, why=why)


def finish_limit_stop(workload: Workload, end_message: str = "") -> bool:
    """Move a workload that ended at its limit to Failed. ``False`` for anything else."""
    return stopping.finish_stop(
        workload, Phase.FAILED, reason=Reason.DEADLINE_EXCEEDED, end_message=end_message
    )
