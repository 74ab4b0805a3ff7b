"""Compares the workloads table at two sizes, and with Django admin's changelist of the same rows.

``python -m bench.table COUNT`` fills a database of its own and prints ``ready``. For each path on
its standard input it then prints the seconds that the page took. So the two sizes and the admin can
be asked in turns, and other load on the machine affects all of them.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import django
from django.core.management import call_command
from django.test import Client

from bench.report import Measurement, percentile
from config.run.install import ROOT

REQUESTS = 100
WARM_UP = 5
SMALL = 1_000
LARGE = 100_000
PAGES = {
    "first page": ("/workloads/", "/admin/workloads/workload/"),
    "filtered": (
        "/workloads/?f=phase:is:Failed",
        "/admin/workloads/workload/?phase__exact=Failed",
    ),
    "sorted": ("/workloads/?sort=name", "/admin/workloads/workload/?o=1"),
}


class Table:
    """A process that serves a table of ``count`` workloads, with its data in the folder
    ``home``."""

    def __init__(
        self, count: int, home: str, *, module: str = "bench.table", database: str = ""
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, str(count)],
            cwd=ROOT,
            env={
                **os.environ,
                "TRAINYARD_HOME": home,
                "DJANGO_SETTINGS_MODULE": "bench.settings",
                "DATABASE_URL": database,
                "LOG_LEVEL": "ERROR",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """Return the next line that the process prints. Raises ``RuntimeError`` if it has ended."""
        assert self.process.stdout is not None  # noqa: S101 -- a pipe, see above
        text = self.process.stdout.readline().strip()
        if not text:
            raise RuntimeError(f"the table's process ended with {self.process.wait()}")
        return text

    def time(self, path: str) -> float:
        """Return the seconds that one request of ``path`` took."""
        assert self.process.stdin is not None  # noqa: S101 -- a pipe, see above
        print(path, file=self.process.stdin, flush=True)
        return float(self.line())

    def close(self) -> None:
        self.process.communicate(timeout=30)


def rows() -> Iterator[Measurement]:
    with ExitStack() as stack:
        tables = [
            Table(count, stack.enter_context(tempfile.TemporaryDirectory()))
            for count in (SMALL, LARGE)
        ]
        for table in tables:
            stack.callback(table.close)
            table.line()
        small, large = tables
        for name, (ours, admins) in PAGES.items():
            yield from _compare(name, small, large, ours, admins)


def _compare(
    name: str, small: Table, large: Table, ours: str, admins: str
) -> Iterator[Measurement]:
    turns = [
        (large.time(ours), small.time(ours), large.time(admins)) for _ in range(WARM_UP + REQUESTS)
    ]
    here, fewer, admin = (
        percentile(times, 0.95) * 1000 for times in zip(*turns[WARM_UP:], strict=True)
    )
    what = f"Workloads table (50 a page), {name}, p95 of {REQUESTS}, {LARGE:,} rows"
    yield Measurement(what, here, "ms", 1.5, fewer, f"at {SMALL:,} rows")
    yield Measurement(what, here, "ms", 0.5, admin, "Django admin, 100 a page")


def serve(count: int) -> None:
    """Fill the database, then answer paths until the input ends."""
    from bench import fill

    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    fill.fill(count)
    client = Client(SERVER_NAME="localhost")
    client.force_login(fill.administrator())
    answer(client)


def answer(client: Client) -> None:
    """Print the seconds that each path on standard input took."""
    print("ready", flush=True)
    for path in sys.stdin:
        print(time_request(client, path.strip()), flush=True)


def time_request(client: Client, path: str) -> float:
    """Return the seconds that a page took. Raises ``RuntimeError`` if it answers with an error."""
    started = time.perf_counter()
    response = client.get(path)
    took = time.perf_counter() - started
    if response.status_code != 200:
        raise RuntimeError(f"{path} answered {response.status_code}")
    return took


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    django.setup()
    serve(int(sys.argv[1]))
