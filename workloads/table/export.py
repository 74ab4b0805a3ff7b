"""The table as a CSV file, streamed in chunks so that its size does not matter."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import islice

from asgiref.sync import sync_to_async

from accounts.models import User
from core.web.sheets import line_writer
from workloads.models import Workload
from workloads.table.columns import Column
from workloads.table.page import for_rows
from workloads.table.state import TableState

CHUNK = 500


async def lines(state: TableState, user: User) -> AsyncIterator[str]:
    """The header line, then all rows that match the filters, in the order of the table."""
    write = line_writer()
    yield write(column.label for column in state.columns)
    workloads = await sync_to_async(_workloads)(state, user)
    while chunk := await sync_to_async(_next)(workloads, state.columns, write):
        yield chunk


def _workloads(state: TableState, user: User) -> Iterator[Workload]:
    ordered = for_rows(state.rows(user), state.columns).order_by(*state.key.order)
    return ordered.iterator(chunk_size=CHUNK)


def _next(
    workloads: Iterator[Workload],
    columns: Iterable[Column],
    write: Callable[[Iterable[str]], str],
) -> str:
    return "".join(
        write(column.text(workload) for column in columns) for workload in islice(workloads, CHUNK)
    )
