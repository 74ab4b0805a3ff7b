"""Samples as files: every one that is stored, not only those in a chart."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponse, QueryDict
from django.utils.text import get_valid_filename

from core.web.sheets import escape_formula
from workloads.metrics.series import MOST_AT_ONCE, MetricSource
from workloads.models import Sample, SampleKind

COLUMNS = ("workload", "run", "attempt", "rank", "step", "time")
MOST_NAMES = 50  # metrics in a file
Row = dict[str, Any]


def export_samples(
    file_format: str,
    sources: Sequence[MetricSource],
    labels: Sequence[str],
    query: QueryDict,
    title: str,
) -> HttpResponse:
    """Return a file with the samples of the sources: of the metrics that ``name`` lists, or of
    all."""
    kind = SampleKind.USAGE if query.get("kind") == SampleKind.USAGE else SampleKind.TRAINING
    rows = list(_read_rows(sources, labels, kind, set(query.getlist("name")[:MOST_NAMES])))
    write, content_type = FORMATS[file_format]
    response = HttpResponse(write(rows), content_type=content_type)
    file_name = get_valid_filename(f"{title}-metrics-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    response["Content-Disposition"] = f'attachment; filename="{file_name}.{file_format}"'
    response["Cache-Control"] = "no-store"
    return response


def _read_rows(
    sources: Sequence[MetricSource], labels: Sequence[str], kind: SampleKind, names: set[str]
) -> Iterator[Row]:
    """Yield a row for each sample: where and when it was reported, and its values."""
    samples = Sample.objects.filter(workload__in=[it.workload for it in sources], kind=kind)
    columns = ("workload", "run", "attempt", "rank", "step", "at", "values")
    rows = samples.order_by("workload", "at", "id").values_list(*columns)
    for workload, run, attempt, rank, step, at, values in rows.iterator(MOST_AT_ONCE):
        chosen = {
            name: value
            for name, value in values.items()
            if value is not None and (not names or name in names)
        }
        for source, label in zip(sources, labels, strict=True):
            if chosen and source.workload == workload and source.run in {None, run}:
                place = (label, run, attempt + 1, rank, step, at.astimezone(UTC).isoformat())
                yield {**chosen, **dict(zip(COLUMNS, place, strict=True))}


def _as_csv(rows: Sequence[Row]) -> str:
    """Return the rows below a line with their names. What people named is no formula; a negative
    number stays one."""
    metrics = sorted({name for row in rows for name in row} - set(COLUMNS))
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([escape_formula(name) for name in (*COLUMNS, *metrics)])
    for row in rows:
        label = escape_formula(str(row["workload"]))
        rest = (row.get(name, "") for name in (*COLUMNS[1:], *metrics))
        writer.writerow([label, *("" if cell is None else cell for cell in rest)])
    return buffer.getvalue()


def _as_json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, separators=(",", ":"))


#: What writes a file, and its type.
FORMATS: dict[str, tuple[Callable[[Sequence[Row]], str], str]] = {
    "csv": (_as_csv, "text/csv"),
    "json": (_as_json, "application/json"),
}
