"""Measures how long the overview takes with thousands of workloads."""

import tempfile
from collections.abc import Iterator
from contextlib import closing

from bench.report import Measurement, percentile
from bench.table import Table

WORKLOADS = 5_000
REQUESTS = 50
WARM_UP = 5


def rows() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as home, closing(Table(WORKLOADS, home)) as table:
        table.line()
        times = [table.time("/") for _ in range(WARM_UP + REQUESTS)]
    took = percentile(times[WARM_UP:], 0.95) * 1000
    yield Measurement(f"Overview, p95 of {REQUESTS}, {WORKLOADS:,} workloads", took, "ms", 150)
