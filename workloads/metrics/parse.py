"""Parse metrics that a training prints.

A line that is a JSON object with a number ``step`` is a sample. One with a text ``event`` is an
entry for the event history, such as resuming from a checkpoint. A progress bar ends its line only
when it is done, so an object that is printed meanwhile stands behind the bar, on the same line.
"""

import json
import re
import time
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any, TypeGuard

from django.db import transaction

from core.text import replace_unfit_characters
from workloads import logs
from workloads.history import events
from workloads.logs.store import Index
from workloads.logs.text import ESCAPE_BYTES
from workloads.metrics import curve, downsample
from workloads.metrics.numbers import Stored, follow_not_finite, number_to_store
from workloads.models import Attempt, Sample, SampleKind, Workload

LONGEST_LINE = 16 * 1024
CHUNK_BYTES = 256 * 1024
MOST_AT_ONCE = 5000  # samples per transaction, approximately
MOST_VALUES = 50
MOST_CHECKPOINTS = 20  # the newest of a workload, which its page lists
LONGEST_NAME = 64
LARGEST_STEP = 2**63 - 1
RESUMED = "resumed"
SAVED = "checkpoint"
MOST_BRACES = 16  # places in a text where an object is looked for
#: What only a progress bar has: a share, a count, a rate, or the bar.
BAR = re.compile(
    r"\d ?%|(?<![\d/])\d+/\d+(?![\d/])|\b(?:it|s|batch|step)/(?:it|s)\b"
    r"|[=#>-]{3,}|[\u2580-\u259f]"
)
NOT_FINITE_WORD = re.compile(
    r"(?P<before>[:,\[]\s*)\+?(?P<minus>-?)(?P<word>nan|inf(?:inity)?)(?=\s*[,}\]])",
    re.IGNORECASE,
)
DECODER = json.JSONDecoder()
Record = dict[str, Any]


@dataclass
class _Batch:
    """The result of one pass over new output: the samples, how far each rank was read (``parsed``),
    and whether there is more to read."""

    samples: list[Sample] = field(default_factory=list)
    parsed: dict[str, int] = field(default_factory=dict)
    resumed_step: int | None = None
    checkpoints: list[Record] = field(default_factory=list)
    has_more: bool = False


def store_samples(
    workload: Workload, attempt: Attempt, deadline: float, *, ended: bool = False
) -> bool:
    """Store samples from new lines; ``True`` if all were read. If the output has ``ended``, its
    last line needs no newline.

    The samples and the position up to which they were read are stored in one transaction: whatever
    is interrupted, no sample is lost or stored twice.
    """
    while True:
        batch = _read_batch(workload, attempt, ended=ended)
        if batch.parsed != attempt.parsed and not _store_batch(workload, attempt, batch):
            return False  # another process read it; the next round continues from there
        if not batch.has_more:
            return True
        if time.monotonic() > deadline:
            return False


def parse_line(line: bytes) -> list[Record]:
    """Return the objects in a line that are samples or events.

    Of a line that overwrites itself every state counts, because nothing that a program printed is
    less true for a progress bar that came after it.
    """
    if b'"step"' not in line:
        return []
    states = ESCAPE_BYTES.sub(b"", line).split(b"\r")
    has_bar = len(states) > 1
    records: list[Record] = []
    for state in states:
        text = state.strip()
        if b'"step"' in text and len(text) <= LONGEST_LINE:
            records += _find_objects(text.decode(errors="surrogateescape"), has_bar=has_bar)
    return [record for record in records if _is_step(record.get("step"))]


def _find_objects(text: str, *, has_bar: bool) -> list[Record]:
    """Return the objects of a text that consists of objects, and perhaps of a progress bar. An
    object within other text, such as a sentence, is no sample."""
    text = NOT_FINITE_WORD.sub(_json_word, text)
    records: list[Record] = []
    others = ""
    position = 0
    for _ in range(MOST_BRACES):
        start = text.find("{", position)
        if start < 0:
            break
        record, end = _decode_object(text, start)
        others += text[position : start if record else end]
        position = end
        if record:
            records.append(record)
    others = (others + text[position:]).strip()
    return records if has_bar or not others or BAR.search(others) else []


def _decode_object(text: str, start: int) -> tuple[Record | None, int]:
    """Return the object that begins with the brace at ``start``, and where to read on."""
    try:
        record, end = DECODER.raw_decode(text, start)
        text[start:end].encode()  # fails for bytes that are not UTF-8, which are no JSON
    except (ValueError, RecursionError):
        return None, start + 1
    return record, end


def _json_word(match: re.Match[str]) -> str:
    """Return ``nan`` or ``inf``, as a format string of Python prints it, as Python's JSON does."""
    if match["word"].lower() == "nan":
        return f"{match['before']}NaN"
    return f"{match['before']}{match['minus']}Infinity"


def _read_batch(workload: Workload, attempt: Attempt, *, ended: bool) -> _Batch:
    batch = _Batch(parsed=dict(attempt.parsed))
    for rank in range(workload.num_pods):
        if len(batch.samples) > MOST_AT_ONCE:
            batch.has_more = True
            break
        stream = logs.Stream(workload.pk, attempt.run, attempt.attempt, rank)
        start = max(batch.parsed.get(str(rank), 0), logs.first_offset(stream))
        data = logs.read_output(stream, start, CHUNK_BYTES)
        end = data.rfind(b"\n") + 1
        if not end and len(data) == CHUNK_BYTES:
            # A long line: no sample begins before its latest state, or is as long as it.
            end = max(data.rfind(b"\r") + 1, len(data) - LONGEST_LINE)
        if ended and len(data) < CHUNK_BYTES:
            end = len(data)
        if end:
            batch.parsed[str(rank)] = start + end
            batch.has_more = batch.has_more or len(data) == CHUNK_BYTES
            if b'"step"' in data:
                _add_records(batch, attempt, stream, data[:end], start)
    return batch


def _add_records(
    batch: _Batch, attempt: Attempt, stream: logs.Stream, data: bytes, offset: int
) -> None:
    with Index(stream) as index:
        for line in data.split(b"\n"):
            for record in parse_line(line):
                if record.get("event") == RESUMED:
                    batch.resumed_step = int(record["step"])
                elif record.get("event") == SAVED:
                    at = index.time_at(offset)
                    batch.checkpoints.append(_checkpoint(record, attempt.run, at))
                elif "event" not in record:
                    sample = Sample(
                        workload_id=attempt.workload_id,
                        kind=SampleKind.TRAINING,
                        run=attempt.run,
                        attempt=attempt.attempt,
                        rank=stream.rank,
                        step=int(record["step"]),
                        at=index.time_at(offset),
                        values=_values_to_store(record),
                    )
                    batch.samples.append(sample)
            offset += len(line) + 1


def _checkpoint(record: Record, run: int, at: datetime) -> Record:
    """Return an entry of the workload's ledger. The size is in bytes; ``None`` if not reported."""
    size = record.get("bytes")
    return {
        "run": run,
        "step": int(record["step"]),
        "at": at.isoformat(),
        "bytes": int(size) if _is_number(size) and size >= 0 else None,
    }


def _values_to_store(record: Record) -> dict[str, Stored | None]:
    """Return the numbers of a record. ``None`` is kept: the metric has no value at this step."""
    values: dict[str, Stored | None] = {}
    for name, value in record.items():
        if name == "step" or len(values) == MOST_VALUES:
            continue
        if value is None or _is_number(value):
            short_name = replace_unfit_characters(name)[:LONGEST_NAME]
            values[short_name] = None if value is None else number_to_store(value)
    return values


def _store_batch(workload: Workload, attempt: Attempt, batch: _Batch) -> bool:
    """Store the samples and how far they were read; ``False`` if another process was first."""
    with transaction.atomic():
        row = Attempt.objects.select_for_update().get(pk=attempt.pk)
        if row.parsed != attempt.parsed:
            return False
        samples = Sample.objects.bulk_create(batch.samples)
        row.parsed = batch.parsed
        if batch.resumed_step is not None and row.resumed_step is None:
            row.resumed_step = batch.resumed_step
            text = f"Training resumed from step {batch.resumed_step}."
            events.record_note(workload, text, source="training")
        row.save(update_fields=["parsed", "resumed_step"])
        if samples:
            _remember_last(workload, samples)
        if batch.checkpoints:
            _remember_checkpoints(workload, batch.checkpoints)
    attempt.parsed = batch.parsed
    downsample.thin_if_due(workload, samples)
    return True


def _remember_last(workload: Workload, samples: list[Sample]) -> None:
    """Store the newest value of each metric, because the last sample may be a test without a loss,
    since when a metric has not been finite, and some metrics' curves."""
    last_metrics = dict(workload.last_metrics)
    not_finite = dict(workload.not_finite)
    for sample in samples:
        last_metrics |= {**sample.values, "step": sample.step}
        if len(last_metrics) > MOST_VALUES:
            last_metrics = {**sample.values, "step": sample.step}
        not_finite = follow_not_finite(not_finite, sample.values, sample.step or 0)
    last_metrics = {name: value for name, value in last_metrics.items() if value is not None}
    columns = {
        "last_metrics": last_metrics,
        "curves": curve.extend_curves(workload.curves, samples),
        "not_finite": not_finite,
    }
    if not_finite != workload.not_finite:
        events.announce(workload)  # its head shows the warning
    Workload.objects.filter(pk=workload.pk).update(**columns)
    for name, value in columns.items():
        setattr(workload, name, value)


def _remember_checkpoints(workload: Workload, saved: list[Record]) -> None:
    """Add checkpoints to the workload's ledger. Of several ranks that report the same one, the last
    report counts."""
    entries = {(entry["run"], entry["step"]): entry for entry in [*workload.checkpoints, *saved]}
    latest = sorted(entries.values(), key=itemgetter("at"))[-MOST_CHECKPOINTS:]
    Workload.objects.filter(pk=workload.pk).update(checkpoints=latest)
    workload.checkpoints = latest


def _is_step(value: object) -> bool:
    return _is_number(value) and abs(value) <= LARGEST_STEP


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
