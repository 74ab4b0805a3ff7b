"""Numbers that a training reports by printing them.

A line of output that is a JSON object with a number ``step`` is a sample; one with a text
``event`` is something worth a line in the event history, such as a checkpoint or a resumption.
"""

import json
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from workloads import history, logs
from workloads.logs import Stream
from workloads.models import Sample, SampleKind, Workload

LONGEST_LINE = 16 * 1024
NOTED_EVENTS = {"resumed": "Training resumed from step {step}."}


def record(workload: Workload, stream: Stream, data: bytes, offset: int) -> None:
    """Keep the samples among the lines that ``data`` completes.

    ``data`` starts at ``offset`` and is not in the store yet; the start of its first line may be.
    """
    whole = _unfinished(stream, offset) + data
    now, samples = datetime.now(UTC), []
    for line in whole.split(b"\n")[:-1]:
        found = parse(line)
        if found is None:
            continue
        if "event" in found:
            _note(workload, found)
        else:
            samples.append(_sample(workload, stream, found, now))
    if samples:
        with transaction.atomic():
            Sample.objects.bulk_create(samples)
            last = {**workload.last_metrics, **samples[-1].values, "step": samples[-1].step}
            Workload.objects.filter(pk=workload.pk).update(last_metrics=last)
            workload.last_metrics = last


def parse(line: bytes) -> dict[str, Any] | None:
    """The object of a line that is a sample or an event, else ``None``."""
    text = line.strip()
    if not text.startswith(b"{") or len(text) > LONGEST_LINE:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None  # a line that merely looks like JSON is a log line
    if not isinstance(found, dict) or not _is_number(found.get("step")):
        return None
    return found


def _unfinished(stream: Stream, offset: int) -> bytes:
    """The part of the store after its last line break."""
    tail = logs.read(stream, max(offset - LONGEST_LINE, 0), min(offset, LONGEST_LINE))
    return tail[tail.rfind(b"\n") + 1 :]


def _sample(workload: Workload, stream: Stream, found: dict[str, Any], at: datetime) -> Sample:
    numbers = {key: value for key, value in found.items() if _is_number(value) and key != "step"}
    return Sample(
        workload=workload,
        kind=SampleKind.TRAINING,
        run=stream.run,
        attempt=stream.attempt,
        rank=stream.rank,
        step=int(found["step"]),
        at=at,
        values=numbers,
    )


def _note(workload: Workload, found: dict[str, Any]) -> None:
    text = NOTED_EVENTS.get(str(found["event"]))
    if text:
        history.note(workload, text.format(step=int(found["step"])), source="training")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
