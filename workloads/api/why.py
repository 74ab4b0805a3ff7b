"""Answers about why a workload waits or failed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from django.db.models import Prefetch

from core.rest.api import Wire
from spec.phases import HELD_UP
from workloads.api.words import CauseWord, FailureWord, FaultWord
from workloads.diagnosis import BY_ID
from workloads.models import CausePeriod, Workload, WorkloadQuerySet

CAUSES = "open_causes"


class FailureLineOut(Wire):
    """``offset`` is the position in the rank's output in this attempt, as in ``/logs``. It is null
    if no line says why, so that ``text`` is empty."""

    rank: int
    attempt: int
    offset: int | None
    text: str

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        return cls(**{**line, "offset": line["offset"] if line["text"] else None})


class FailureOut(Wire):
    """Why the workload failed, according to its log. ``failureClass`` is one of a fixed list.
    ``fault`` says where to fix it: program, data, environment, cluster, or trainyard. ``line`` is
    null if no rank started, for example because the cluster refused it."""

    failure_class: FailureWord
    label: str
    fault: FaultWord
    sentence: str
    repair: str
    line: FailureLineOut | None

    @classmethod
    def of(cls, workload: Workload) -> "FailureOut | None":
        failure, line = BY_ID.get(workload.failure_class), workload.failure_line
        if failure is None:
            return None
        return cls(
            failure_class=failure.id,
            label=failure.label,
            fault=failure.fault,
            sentence=failure.sentence,
            repair=failure.repair,
            line=FailureLineOut.of(line) if line else None,
        )


class ShareOut(Wire):
    """A number of nodes, and the reason that rules them out."""

    reason: str
    nodes: int


class CauseOut(Wire):
    """Why a workload waits. ``evidence`` is the cluster's message, about ``rank`` if it concerns a
    single one. ``shares`` lists what rules out the ``nodes`` that its scheduler looked at, the most
    common reason first."""

    kind: CauseWord
    title: str
    rank: str
    evidence: str
    next_step: str
    nodes: int
    shares: list[ShareOut]
    since: datetime

    @classmethod
    def of(cls, workload: Workload) -> "CauseOut | None":
        """The cause for a row of :func:`with_cause`; ``None`` if it does not wait."""
        there: list[CausePeriod] = getattr(workload, CAUSES) if workload.phase in HELD_UP else []
        cause = next(iter(there), None)
        if cause is None:
            return None
        shares = cause.evidence.get("shares", [])
        return cls(
            kind=cause.kind,
            title=cause.title,
            rank=cause.who,
            evidence=cause.said,
            next_step=cause.todo,
            nodes=cause.evidence.get("total", 0),
            shares=[ShareOut(reason=label, nodes=nodes) for label, nodes in shares],
            since=cause.since,
        )


def with_cause(rows: WorkloadQuerySet) -> WorkloadQuerySet:
    """Add to each workload the cause that it waits for now, of which there is at most one."""
    return rows.prefetch_related(
        Prefetch("causes", CausePeriod.objects.filter(until=None), to_attr=CAUSES)
    )
