"""Compares the list of workloads at two sizes, filtered and sorted, in turns.

``python -m bench.api.lists COUNT`` fills the database of ``DATABASE_URL``, then answers paths as
``bench.table`` does.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import django
from django.core.management import call_command

from bench.api.place import BenchPlace
from bench.report import Measurement, percentile
from bench.table import LARGE, REQUESTS, SMALL, WARM_UP, Table

LIST = "/api/v1/workloads?limit=50&filterBy=phase=="
NEWEST = "sortBy=createdAt&sortOrder=desc"
#: Each has more than 50 rows in both sizes.
LISTS = {
    "of the failed, the newest first": f"{LIST}Failed&{NEWEST}",
    "of the failed, by name": f"{LIST}Failed&sortBy=name",
    "of the completed of a project": f"{LIST}Completed&filterBy=projectName==team-3&{NEWEST}",
}


def rows(place: BenchPlace) -> Iterator[Measurement]:
    with ExitStack() as stack:
        tables = []
        for count, name in ((SMALL, "small"), (LARGE, "large")):
            home = stack.enter_context(TemporaryDirectory())
            table = Table(count, home, module="bench.api.lists", database=place.databases[name])
            stack.callback(table.close)
            table.line()
            tables.append(table)
        small, large = tables
        for what, path in LISTS.items():
            turns = [(large.time(path), small.time(path)) for _ in range(WARM_UP + REQUESTS)]
            many, few = (
                percentile(times, 0.95) * 1000 for times in zip(*turns[WARM_UP:], strict=True)
            )
            title = f"GET /workloads on PostgreSQL: 50 {what}, p95, {LARGE:,} rows"
            yield Measurement(title, many, "ms", 1.5, few, f"at {SMALL:,} rows")


def serve(count: int) -> None:
    """Fill the database, then answer paths until the input ends."""
    from django.db import connection
    from django.test import Client

    from accounts import tokens
    from bench import fill
    from bench.table import answer

    call_command("migrate", verbosity=0, interactive=False)
    fill.fill(count)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL's autovacuum does later
    bearer = f"Bearer {tokens.access_token_for(fill.administrator())}"
    answer(Client(SERVER_NAME="localhost", headers={"Authorization": bearer}))


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    django.setup()
    serve(int(sys.argv[1]))
