"""The workloads table at two sizes, and Django admin's changelist over the same rows.

Runs as ``python -m bench.table COUNT`` on a database of its own; prints JSON: page → seconds.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import django
from django.core.management import call_command
from django.test import Client

from bench.report import Row, percentile
from config.run.install import ROOT

REQUESTS = 60
SMALL, LARGE = 1_000, 100_000
PAGES = {
    "first page": "/workloads/",
    "filtered": "/workloads/?f=phase:is:Failed",
    "sorted": "/workloads/?sort=name",
}
ADMIN = {
    "first page": "/admin/workloads/workload/",
    "filtered": "/admin/workloads/workload/?phase__exact=Failed",
    "sorted": "/admin/workloads/workload/?o=1",
}


def rows() -> Iterator[Row]:
    small, large = _measure_apart(SMALL), _measure_apart(LARGE)
    for page in PAGES:
        ours = large[f"ours: {page}"] * 1000
        what = f"Workloads table, {page}, p95 of {REQUESTS}, {LARGE:,} rows"
        yield Row(what, ours, "ms", 1.5, small[f"ours: {page}"] * 1000, f"at {SMALL:,} rows")
        yield Row(what, ours, "ms", 0.5, large[f"admin: {page}"] * 1000, "Django admin")


def _measure_apart(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        answer = subprocess.run(
            [sys.executable, "-m", "bench.table", str(count)],
            cwd=ROOT,
            env={
                **os.environ,
                "TRAINYARD_HOME": home,
                "DJANGO_SETTINGS_MODULE": "bench.settings",
                "DATABASE_URL": "",
                "LOG_LEVEL": "ERROR",
            },
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def measure(count: int) -> dict[str, float]:
    """p95 of each page's server time in seconds, over ``count`` workloads."""
    from bench import fill

    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    fill.fill(count)
    client = Client(SERVER_NAME="localhost")
    client.force_login(fill.administrator())
    addresses = {f"ours: {name}": path for name, path in PAGES.items()}
    addresses |= {f"admin: {name}": path for name, path in ADMIN.items()}
    times: dict[str, list[float]] = {name: [] for name in addresses}
    for _ in range(REQUESTS):
        for name, path in addresses.items():  # turn by turn, so that both meet the same machine
            times[name].append(_time(client, path))
    return {name: percentile(found[3:], 0.95) for name, found in times.items()}


def _time(client: Client, path: str) -> float:
    started = time.perf_counter()
    response = client.get(path)
    took = time.perf_counter() - started
    if response.status_code != 200:
        raise RuntimeError(f"{path} answered {response.status_code}")
    return took


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    django.setup()
    print(json.dumps(measure(int(sys.argv[1]))))
