"""Measures the search in a log of one gigabyte, plain and colored, by the requests that its page
sends."""

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import httpx

from bench.report import Measurement
from tests.product import Trainyard
from tests.rest import Rest

SIZE = 1024**3  # bytes
STEPS = 60
FIRST = {"plain": 10.0, "colored": 30.0}  # limit: times what grep takes
RARE = "loss=0.777"  # in one line of 100,000
LINE = "{at:08d} INFO train rank=0 lr=3.0e-4 throughput=812.3 tokens/s loss=0.{loss:03d}"
COLORED = (
    "\\x1b[90m{at:08d}\\x1b[0m \\x1b[32mINFO\\x1b[0m train rank=0 lr=3.0e-4 "
    "\\x1b[1mthroughput\\x1b[0m=812.3 tokens/s loss=\\x1b[36m0.{loss:03d}\\x1b[0m"
)
GREP_READ = (0, 1)  # exit codes: it found lines, or none
# Runs in the product's ``manage.py``, because the log store is internal to it.
FILL = """
from workloads import logs
at, line, stream = 0, "{line}\\n", logs.Stream("{workload}", 1, 0, 0)
while logs.size(stream) < {size}:
    rows = (line.format(at=n, loss=777 if n % 100_000 == 99 else n % 700)
            for n in range(at, at + 100_000))
    logs.append(stream, "".join(rows).encode())
    at += 100_000
"""


def rows(trainyard: Trainyard) -> Iterator[Measurement]:
    with Rest(trainyard) as rest:
        for kind, line in (("plain", LINE), ("colored", COLORED)):
            workload = rest.submit(f"searched-{kind}", args="--epochs 1")
            rest.wait(workload, "Completed", "Failed", timeout=300)
            code = FILL.format(line=line, workload=workload, size=SIZE)
            trainyard.manage("shell", "--no-imports", "-c", code)
            yield from _of(trainyard, workload, kind)
            rest.delete(workload)


def _of(trainyard: Trainyard, workload: str, kind: str) -> Iterator[Measurement]:
    cookies = trainyard.sign_in()
    with httpx.Client(base_url=trainyard.url, cookies=cookies, timeout=30) as web:
        address = f"/workloads/{workload}/logs/search/"
        first, answer = _search(web, address, {"text": RARE})
        steps = []
        for turn in range(STEPS):
            query = {"text": RARE, "line": answer["hit"]["line"]}
            query["go"] = "previous" if turn % 3 == 2 else "next"
            took, answer = _search(web, address, query)
            steps.append(took)
    where = f"of a {kind} log of {SIZE / 1024**3:.0f} GB with {answer['count']:,} hits"
    yield Measurement(
        what=f"The first search {where}",
        ours=first,
        unit="s",
        limit=FIRST[kind],
        peer=_by_grep(trainyard, workload),
        peer_name="grep -ic",
    )
    yield Measurement(
        what=f"Each step to another hit {where}, the longest of {STEPS}",
        ours=max(steps),
        unit="s",
        limit=2.0,
    )


def _by_grep(trainyard: Trainyard, workload: str) -> float:
    """Return the seconds that grep takes for the same log. It does not find text with color codes
    within it."""
    log = trainyard.home / "logs" / workload / "1-0-0.log"
    began = time.perf_counter()
    done = subprocess.run(
        ["grep", "-ic", RARE, str(log)],  # noqa: S607 -- the grep on the PATH
        capture_output=True,  # writing to /dev/null, grep would stop at the first hit
        check=False,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    took = time.perf_counter() - began
    if done.returncode not in GREP_READ:
        raise RuntimeError(f"grep did not read {log}: {done.stderr!r}")
    return took


def _search(web: httpx.Client, address: str, query: dict[str, str]) -> tuple[float, Any]:
    """Return the seconds until the whole log is searched, and the last answer."""
    began = time.perf_counter()
    while True:
        answer = web.get(address, params=query).raise_for_status().json()
        if answer["searched"] >= answer["size"]:
            return time.perf_counter() - began, answer
