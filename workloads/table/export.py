"""The table as CSV, a few rows at a time, however many there are."""

import csv
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async

from accounts.models import User
from workloads.models import Workload
from workloads.table.columns import Column
from workloads.table.page import for_rows
from workloads.table.state import TableState

CHUNK = 500
# A spreadsheet takes a cell that starts with one of these for a formula and runs it.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Line:
    """csv.writer's idea of a file: it hands back what was written."""

    def write(self, text: str) -> str:
        return text


def harmless(text: str) -> str:
    """Text that no spreadsheet runs: a quote in front makes it text."""
    is_risky = text.lstrip(" ").startswith(DANGEROUS)
    return f"'{text}" if is_risky else text


async def lines(state: TableState, user: User) -> AsyncIterator[str]:
    """The header, then the rows of the filter in the order of the table."""
    writer = csv.writer(_Line())
    yield writer.writerow([column.label for column in state.columns])
    workloads = await sync_to_async(_workloads)(state, user)
    while chunk := await sync_to_async(_next)(workloads, state.columns, writer):
        yield chunk


def _workloads(state: TableState, user: User) -> Iterator[Workload]:
    ordered = for_rows(state.rows(user), state.columns).order_by(*state.key.order)
    return ordered.iterator(chunk_size=CHUNK)


def _next(workloads: Iterator[Workload], columns: Iterable[Column], writer: Any) -> str:
    return "".join(
        writer.writerow([harmless(column.text(workload)) for column in columns])
        for workload in islice(workloads, CHUNK)
    )
