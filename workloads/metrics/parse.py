"""Parse metrics that a training prints.

A line that is a JSON object with a number ``step`` is a sample. One with a text ``event`` is an
entry for the event history, such as resuming from a checkpoint.
"""

import json
import time
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from core.text import replace_unfit_characters
from workloads import logs
from workloads.history import events
from workloads.logs.store import Index
from workloads.metrics import curve, downsample
from workloads.models import Attempt, Sample, SampleKind, Workload

LONGEST_LINE = 16 * 1024
CHUNK_BYTES = 256 * 1024
MOST_AT_ONCE = 5000  # samples per transaction, approximately
MOST_VALUES = 50
LONGEST_NAME = 64
LARGEST_STEP = 2**63 - 1
RESUMED = "resumed"


@dataclass
class _Batch:
    """The result of one pass over new output: the samples, how far each rank was read (``parsed``),
    and whether there is more to read."""

    samples: list[Sample] = field(default_factory=list)
    parsed: dict[str, int] = field(default_factory=dict)
    resumed_step: int | None = None
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


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line that is a sample or event, else ``None``."""
    text = line.strip()
    if not text.startswith(b"{") or len(text) > LONGEST_LINE:
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None  # it only looks like JSON
    if not isinstance(record, dict) or not _is_number(record.get("step")):
        return None
    return record if abs(record["step"]) <= LARGEST_STEP else None


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
            end = len(data)  # no sample is as long as this line
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
            record = parse_line(line)
            if record and record.get("event") == RESUMED:
                batch.resumed_step = int(record["step"])
            elif record and "event" not in record:
                sample = Sample(
                    workload_id=attempt.workload_id,
                    kind=SampleKind.TRAINING,
                    run=attempt.run,
                    attempt=attempt.attempt,
                    rank=stream.rank,
                    step=int(record["step"]),
                    at=index.time_at(offset),
                    values=_numbers(record),
                )
                batch.samples.append(sample)
            offset += len(line) + 1


def _numbers(record: dict[str, Any]) -> dict[str, float]:
    numbers = (
        (replace_unfit_characters(name)[:LONGEST_NAME], float(value))
        for name, value in record.items()
        if name != "step" and _is_number(value)
    )
    return dict(list(numbers)[:MOST_VALUES])


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
    attempt.parsed = batch.parsed
    downsample.thin_if_due(workload, samples)
    return True


def _remember_last(workload: Workload, samples: list[Sample]) -> None:
    """Store the newest value of each metric, because the last sample may be a test without a loss,
    and some metrics' curves."""
    last_metrics = dict(workload.last_metrics)
    for sample in samples:
        last_metrics |= {**sample.values, "step": sample.step}
        if len(last_metrics) > MOST_VALUES:
            last_metrics = {**sample.values, "step": sample.step}
    curves = curve.extend_curves(workload.curves, samples)
    Workload.objects.filter(pk=workload.pk).update(last_metrics=last_metrics, curves=curves)
    workload.last_metrics = last_metrics
    workload.curves = curves


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
