"""Diagnose a failed workload from the last lines of its ranks, once, and store the result."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from spec.phases import Phase, Reason
from workloads import logs
from workloads.diagnosis.base import FailureClass, Weight
from workloads.diagnosis.classes import CLASSES
from workloads.diagnosis.classes.cluster import TIME_LIMIT
from workloads.diagnosis.match import find_match
from workloads.diagnosis.ranks import class_of_end, sort_by_failure
from workloads.history import events
from workloads.logs.reading.lines import last_line_end, read_backward
from workloads.logs.text import plain_text
from workloads.models import Rank, Workload

TAIL_LINES = 400
TAIL_BYTES = 48 * 1024
LATEST_STARTS = 2  # starts of a rank whose output is examined
MOST_RANKS = 8  # ranks examined, those that failed first
LONGEST_TEXT = 500


@dataclass(frozen=True)
class DecisiveLine:
    """The line that shows the cause: at ``offset`` bytes in the output of ``rank`` in this attempt.
    -1 if no line shows it, only how the rank ended."""

    rank: int
    attempt: int = 0
    offset: int = -1
    text: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A failure class and the line that shows it."""

    failure: FailureClass
    line: DecisiveLine


def record_diagnosis(workload: Workload) -> None:
    """Diagnose a failed workload whose output is complete, and store the result. Doing it again
    changes nothing."""
    if workload.phase != Phase.FAILED:
        return
    diagnosis = diagnose(workload, workload.ranks.all())
    values: dict[str, Any] = {"failure_class": "", "failure_line": {}}
    if diagnosis:
        values = {"failure_class": diagnosis.failure.id, "failure_line": asdict(diagnosis.line)}
    if any(getattr(workload, name) != value for name, value in values.items()):
        rows = Workload.objects.filter(pk=workload.pk, run=workload.run, phase=Phase.FAILED)
        if rows.update(**values):
            events.announce(workload)


def refusal_class(reason: Reason) -> str:
    """Return the failure class of a workload that never started, so that no rank has any output;
    empty if there is none."""
    return next((failure.id for failure in CLASSES if reason in failure.reasons), "")


def diagnose(workload: Workload, ranks: Iterable[Rank]) -> Diagnosis | None:
    """Return the diagnosis of the first failed rank that shows a cause, or else of one that only
    reports that others are gone. ``None`` if no rank shows anything."""
    if workload.reason in TIME_LIMIT.reasons:  # however its ranks ended
        return Diagnosis(TIME_LIMIT, DecisiveLine(0))
    best: Diagnosis | None = None
    failed = sort_by_failure(ranks)
    earliest = min((rank.finished_at for rank in failed if rank.finished_at), default=None)
    for rank in failed[:MOST_RANKS]:
        diagnosis = _diagnose_rank(workload, rank, earliest)
        if diagnosis and (best is None or diagnosis.failure.weight > best.failure.weight):
            best = diagnosis
        if best and best.failure.weight >= Weight.PLAIN:
            break
    return best


def _diagnose_rank(workload: Workload, rank: Rank, earliest: datetime | None) -> Diagnosis | None:
    """Return the diagnosis from the rank's log, or from how the rank ended if that says more or the
    engine gave the reason."""
    from_log = _diagnose_log(workload, rank)
    end = class_of_end(rank, earliest)
    if end is None or (from_log and from_log.failure is end):
        return from_log
    if from_log is None or end.weight > from_log.failure.weight or rank.reason in end.reasons:
        return Diagnosis(end, DecisiveLine(rank.rank))
    return from_log


def _diagnose_log(workload: Workload, rank: Rank) -> Diagnosis | None:
    """Return the diagnosis from the rank's last output, or from that of the start before. At the
    backoff limit, operators start a rank again and remove it at once."""
    streams = [s for s in logs.streams(workload.pk) if s.rank == rank.rank]
    streams = [stream for stream in streams if stream.run == workload.run]
    for stream in streams[: -LATEST_STARTS - 1 : -1]:
        offsets, lines = _last_lines(stream)
        decisive = find_match(lines)
        if decisive is not None:
            text = lines[decisive.number].strip()[:LONGEST_TEXT]
            line = DecisiveLine(rank.rank, stream.attempt, offsets[decisive.number], text)
            return Diagnosis(decisive.failure, line)
    return None


def _last_lines(stream: logs.Stream) -> tuple[list[int], list[str]]:
    """Return the offset of each of the last lines in bytes, and their texts, oldest first."""
    offsets: list[int] = []
    lines: list[str] = []
    remaining_bytes = TAIL_BYTES
    for line in read_backward(stream, last_line_end(stream, unfinished=True)):
        remaining_bytes -= len(line.data)
        if len(lines) >= TAIL_LINES or (remaining_bytes < 0 and lines):
            break
        offsets.append(line.offset)
        lines.append(plain_text(line.data))
    return offsets[::-1], lines[::-1]
