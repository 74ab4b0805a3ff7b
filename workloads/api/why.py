"""Answers about why a workload waits or failed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from django.db.models import Prefetch
from pydantic import Field

from core.rest.api import Wire
from spec.phases import MAY_HAVE_CAUSE
from workloads.api.words import CauseWord, FailureWord, FaultWord
from workloads.diagnosis import BY_ID
from workloads.models import CausePeriod, Workload, WorkloadQuerySet

CAUSES = "open_causes"


class FailureLineOut(Wire):
    """``offset`` is the position in the rank's output in this attempt, as in ``/logs``. It is null
    if no line says why, so that ``text`` is empty."""

    rank: int = Field(description="The number of the rank, counted from 0")
    attempt: int = Field(description="The attempt that wrote the line, counted from 1")
    offset: int | None = Field(
        description="Its position in the log of the rank, in bytes; null if no line shows it"
    )
    text: str = Field(description="The line")

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        offset = line["offset"] if line["text"] else None
        return cls(**{**line, "attempt": line["attempt"] + 1, "offset": offset})


class FailureOut(Wire):
    """Why the workload failed, according to its log. ``failureClass`` is one of a fixed list.
    ``fault`` says where to fix it: program, data, environment, cluster, or trainyard. ``line`` is
    null if no rank started, for example because the cluster refused it."""

    failure_class: FailureWord = Field(
        description="The kind of failure, by a stable name such as cuda-out-of-memory"
    )
    label: str = Field(description="The name that people read")
    fault: FaultWord = Field(
        description="Where to fix it: program, data, environment, cluster or trainyard"
    )
    sentence: str = Field(description="Why it failed, in one sentence")
    repair: str = Field(description="How to fix it")
    line: FailureLineOut | None = Field(description="The line of the log that shows it")

    @classmethod
    def of(cls, workload: Workload) -> "FailureOut | None":
        failure = BY_ID.get(workload.failure_class)
        line = workload.failure_line
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

    reason: str = Field(description="What rules them out")
    nodes: int = Field(description="How many nodes it rules out")


class CauseOut(Wire):
    """Why a workload waits. ``evidence`` is the cluster's message, about ``rank`` if it concerns a
    single one. ``shares`` lists what rules out the ``nodes`` that its scheduler looked at, the most
    common reason first."""

    kind: CauseWord = Field(description="What it is about, such as Capacity, Nodes, Quota or Image")
    title: str = Field(description="What it is, in a few words")
    rank: str = Field(description="The name of the rank that it is about; empty for all of them")
    evidence: str = Field(description="What the cluster reported, word for word")
    next_step: str = Field(description="What to do about it")
    nodes: int = Field(description="How many nodes the scheduler looked at")
    shares: list[ShareOut] = Field(
        description="What rules nodes out, and how many of them, the most frequent reason first"
    )
    since: datetime = Field(description="Since when it waits for this")

    @classmethod
    def of(cls, workload: Workload) -> "CauseOut | None":
        """Return the cause of a row of :func:`with_cause`; ``None`` if the workload does not
        wait."""
        open_causes: list[CausePeriod] = (
            getattr(workload, CAUSES) if workload.phase in MAY_HAVE_CAUSE else []
        )
        cause = next(iter(open_causes), None)
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
    """Load with each workload the cause for which it waits now, if any."""
    return rows.prefetch_related(
        Prefetch("causes", CausePeriod.objects.filter(until=None), to_attr=CAUSES)
    )
