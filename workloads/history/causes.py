"""Record what a workload waits for, one row per change of cause, and draw it as a bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from engines.base import Observation
from spec.problems.causes import Cause
from workloads.models import CausePeriod, Workload

MOST_CAUSES = 200  # causes kept per run; the open one stays, the oldest go
LONGEST_TITLE = 300
MOST_SHARES = 8  # in a bar; the rest is one share


def record_observed(workload: Workload, observation: Observation) -> None:
    """Record the cause in an observation. Call it in a transaction."""
    record_cause(workload, observation.cause if workload.is_active else None)


def record_cause(workload: Workload, cause: Cause | None) -> None:
    """Record a cause: update the open row if it is the same cause, else end that one and add a new
    row. Call it in a transaction."""
    open_row = workload.causes.filter(until=None).first()
    if cause and open_row and _is_same(open_row, cause, workload.run):
        if _has_news(open_row, cause):
            CausePeriod.objects.filter(pk=open_row.pk).update(**_cause_columns(cause))
        return
    # First end, then add: a constraint allows only one open row for each workload.
    if open_row:
        end_cause(workload)
    if cause:
        workload.causes.create(run=workload.run, kind=cause.kind, **_cause_columns(cause))
        _delete_oldest(workload)


def is_known(rows: Sequence[CausePeriod], observation: Observation) -> bool:
    """Whether the open cause, of which ``rows`` has at most one, is that of the observation."""
    if not rows or observation.cause is None:
        return not rows and observation.cause is None
    return _is_same(rows[0], observation.cause, observation.run) and not _has_news(
        rows[0], observation.cause
    )


def end_cause(workload: Workload) -> None:
    """End the open cause, because the workload runs, was stopped or has ended."""
    workload.causes.filter(until=None).update(until=timezone.now())


def _is_same(row: CausePeriod, cause: Cause, run: int) -> bool:
    return (row.run, row.kind, row.title) == (run, cause.kind, cause.title[:LONGEST_TITLE])


def _has_news(row: CausePeriod, cause: Cause) -> bool:
    return any(getattr(row, name) != value for name, value in _cause_columns(cause).items())


def _cause_columns(cause: Cause) -> dict[str, Any]:
    shares = [[share.label, share.nodes] for share in cause.shares]
    return {
        "title": cause.title[:LONGEST_TITLE],
        "todo": cause.todo,
        "said": cause.said,
        "who": cause.who[:80],
        "evidence": {"total": cause.total, "shares": shares} if shares else {},
    }


def _delete_oldest(workload: Workload) -> None:
    newest_first = workload.causes.filter(run=workload.run).order_by("-since", "-pk")
    excess = list(newest_first.values_list("pk", flat=True)[MOST_CAUSES:])
    if excess:
        CausePeriod.objects.filter(pk__in=excess).delete()


@dataclass(frozen=True)
class BarShare:
    """A segment of a bar with a total width of 100: the number of nodes that a reason excludes."""

    label: str
    nodes: int
    start: float
    width: float


def bar_shares(counted: Sequence[tuple[str, int]], total: int) -> list[BarShare]:
    """Return the segments of a bar: the nodes that each reason excludes, of ``total`` nodes. If
    nodes are excluded for several reasons at once, the bar shows the shares of the reasons."""
    counts = list(counted[:MOST_SHARES])
    rest = counted[MOST_SHARES:]
    if rest:
        counts.append(("other reasons", sum(nodes for _, nodes in rest)))
    full_width = max(sum(nodes for _, nodes in counts), total, 1)
    shares: list[BarShare] = []
    start = 0.0
    for label, nodes in counts:
        width = 100 * nodes / full_width
        shares.append(BarShare(label, nodes, round(start, 2), round(width, 2)))
        start += width
    return shares
