"""Hold workloads to the scheduling rules that their project and department had when they were
submitted: warn before a limit, stop at it, and let the owner extend it once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from projects.models import Project
from projects.rules import LimitRule, idle_limit_of, time_limit_of
from spec.formats.stored import as_mapping
from spec.phases import AT_WORK, TERMINAL, Phase, Reason
from spec.problems.time_limit import format_duration
from spec.workload import WorkloadSpec
from workloads.history import events
from workloads.models import Workload
from workloads.scheduling.limits import idle_limits, stopping
from workloads.scheduling.limits.limited import workloads_with_limit

WARNING_SECONDS = 900  # how long before a stop its warning comes, at most
WARNING_SHARE = 10  # and at most this part of the limit
TIME = "rule_time_limit_seconds"
IDLE = "idle_gpu_limit_seconds"
COLUMNS = ("phase", "reason", "phase_updated_at", "running_seconds", "run")


@dataclass(frozen=True)
class Approach:
    """How near a workload is to a limit: the seconds that are left, and since when they count."""

    column: str
    limit: int
    seconds_left: float
    since: datetime

    @property
    def is_near(self) -> bool:
        return self.seconds_left <= min(WARNING_SECONDS, self.limit // WARNING_SHARE)

    @property
    def is_over(self) -> bool:
        return self.seconds_left <= 0


def columns_at_submission(project: Project, spec: WorkloadSpec, gpus: float) -> dict[str, Any]:
    """Return the columns with the limits that the rules have for a new workload. An idle GPU limit
    is only for workloads with GPUs."""
    kind = spec.kind.traits
    rules: dict[str, LimitRule | None] = {TIME: time_limit_of(project, kind)}
    if gpus:
        rules[IDLE] = idle_limit_of(project, kind, spec.preemptibility)
    limits = {column: rule for column, rule in rules.items() if rule}
    return {
        **{column: rule.seconds for column, rule in limits.items()},
        "rules_json": {
            column: {"extendedSeconds": rule.extended_seconds, "source": rule.source}
            for column, rule in limits.items()
        },
    }


def enforce_time_limits() -> None:
    """Warn the owner of each workload that is near the time limit of a rule, and stop those that
    have reached it."""
    for workload, _ in workloads_with_limit(TIME, *COLUMNS):
        _enforce(workload, time_approach(workload, timezone.now()))


def enforce_idle_limits() -> None:
    """Do the same for workloads whose GPUs are idle."""
    for workload, _ in workloads_with_limit(IDLE, *COLUMNS):
        _enforce(workload, idle_approach(workload, timezone.now()))


def time_approach(workload: Workload, now: datetime) -> Approach:
    limit = workload.rule_time_limit_seconds or 0
    ran = workload.running_total
    return Approach(TIME, limit, limit - ran, now - timedelta(seconds=ran))


def idle_approach(workload: Workload, now: datetime) -> Approach:
    limit = workload.idle_gpu_limit_seconds or 0
    earliest = now - timedelta(seconds=limit)
    since = idle_limits.idle_since(workload, now, idle_limits.uses_gpu, earliest=earliest)
    return Approach(IDLE, limit, limit - (now - since).total_seconds(), since)


def _enforce(workload: Workload, approach: Approach) -> None:
    if not approach.is_near:
        return
    full_row = Workload.objects.get(pk=workload.pk)
    if approach.is_over:
        why = _stop_sentence(full_row, approach)
        stopping.request_stop(full_row, reason=Reason.STOPPED_BY_RULE, why=why)
    else:
        _warn(full_row, approach)


def _warn(workload: Workload, approach: Approach) -> None:
    """Warn once for each time limit of a run, and once for each time that the GPUs are idle."""
    since = "" if approach.column == TIME else f"-{approach.since.timestamp():.0f}"
    events.record_once(
        workload,
        _warning_sentence(workload, approach),
        reason=Reason.WILL_STOP_BY_RULE,
        key=f"{approach.column}-{approach.limit}-{workload.run}{since}",
    )


def near_stops(workload: Workload) -> Iterator[str]:
    """Yield a warning for each limit of a rule that a running workload is near to."""
    if workload.phase not in AT_WORK:
        return
    now = timezone.now()
    for column, approach_of in ((TIME, time_approach), (IDLE, idle_approach)):
        if getattr(workload, column) is None:
            continue
        approach = approach_of(workload, now)
        if approach.is_near:
            yield _warning_sentence(workload, approach)


def limit_facts(workload: Workload) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each limit that a workload has from a rule."""
    for column, label in ((TIME, "Time limit by rule"), (IDLE, "Idle GPU limit by rule")):
        seconds = getattr(workload, column)
        if seconds is not None:
            extended = ", extended" if workload.limits_extended_at else ""
            yield label, f"{format_duration(seconds)} ({source_of(workload, column)}{extended})"


def source_of(workload: Workload, column: str) -> str:
    """Return whose rule a limit is, such as ``department research``; empty without the limit."""
    return str(as_mapping(workload.rules_json.get(column)).get("source") or "")


def extended_limits(workload: Workload) -> dict[str, int]:
    """Return the limits that the owner may extend now, by column, with their seconds after that;
    none if the rules allow no extension, or it was used."""
    if workload.limits_extended_at:
        return {}
    limits: dict[str, int] = {}
    for column in (TIME, IDLE):
        seconds = getattr(workload, column)
        extended = as_mapping(workload.rules_json.get(column)).get("extendedSeconds")
        if seconds is not None and isinstance(extended, int) and extended > seconds:
            limits[column] = extended
    return limits


def longest_time_limit(workload: Workload) -> int | None:
    """Return the time limit that a workload has from a rule, as its owner may still extend it;
    ``None`` without one."""
    return extended_limits(workload).get(TIME, workload.rule_time_limit_seconds)


def may_extend(workload: Workload, user: User) -> bool:
    """Whether the page offers a user to extend the limits."""
    is_owner = workload.created_by_id == user.pk and workload.deleted_at is None
    return is_owner and workload.phase not in TERMINAL and bool(extended_limits(workload))


def why_used_up(workload: Workload) -> str:
    """Return why a workload has no time left in which it could run; empty if it has."""
    limit = workload.rule_time_limit_seconds
    if limit is None or workload.running_total < limit:
        return ""
    source = source_of(workload, TIME)
    todo = "its owner can extend it once" if TIME in extended_limits(workload) else "copy it"
    return f"has used up the time limit of {source}, {format_duration(limit)}; {todo}"


def finish_rule_stop(workload: Workload, end_message: str = "") -> bool:
    """Move a workload that has ended after a stop by a rule to Stopped. ``False`` for any other."""
    return stopping.finish_stop(
        workload, Phase.STOPPED, reason=Reason.STOPPED_BY_RULE, end_message=end_message
    )


def _warning_sentence(workload: Workload, approach: Approach) -> str:
    left = format_duration(max(round(approach.seconds_left), 1))
    source = source_of(workload, approach.column)
    limit = format_duration(approach.limit)
    if approach.column == TIME:
        text = f"It will be stopped in {left}, at the time limit of {source}, {limit}."
    else:
        text = (
            f"Its GPUs are idle: it will be stopped in {left} unless it uses them. The idle GPU "
            f"limit of {source} is {limit}."
        )
    extended = extended_limits(workload).get(approach.column)
    if extended:
        text += f" Its owner can extend the limit once, to {format_duration(extended)}."
    return text


def _stop_sentence(workload: Workload, approach: Approach) -> str:
    source = source_of(workload, approach.column)
    limit = format_duration(approach.limit)
    if approach.column == TIME:
        return f"It reached the time limit of {source}, {limit}."
    return f"Its GPUs were idle for {limit}, the idle GPU limit of {source}. Run starts it again."
