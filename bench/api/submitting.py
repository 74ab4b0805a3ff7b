"""Compares submissions with calls of a view that only inserts such a row, each as fast as they are
answered."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from bench.api.place import BenchPlace
from bench.report import Measurement, percentile

CLIENTS = 4
ROUNDS = 4
SECONDS = 4.0
WARM_UP = 1.0
LIMIT = 1 / 0.35  # at least 0.35 of the calls that the bare view answers in the same time
OURS = "/api/v1/workloads/distributed"
BARE = "/bare/workloads"
numbers = count()


def rows(place: BenchPlace) -> Iterator[Measurement]:
    """Measure both in turns, so that other load on the machine affects both."""
    for path in (OURS, BARE):
        _round(place, path, WARM_UP)
    taken: dict[str, list[float]] = {OURS: [], BARE: []}
    for _ in range(ROUNDS):
        for path, seconds in taken.items():
            seconds += _round(place, path, SECONDS)
    ours, bare = (SECONDS * ROUNDS / len(taken[path]) * 1000 for path in (OURS, BARE))
    peer = "a django-ninja view that only inserts the row"
    what = f"POST /workloads/distributed on PostgreSQL, {CLIENTS} callers"
    yield Measurement(f"{what}, time of one when all are busy", ours, "ms", LIMIT, bare, peer)
    late, theirs = (percentile(taken[path], 0.99) * 1000 for path in (OURS, BARE))
    yield Measurement(f"{what}, p99", late, "ms", 3.0, theirs, peer)


def _round(place: BenchPlace, path: str, seconds: float) -> list[float]:
    """Submit by all callers for ``seconds``, and return the seconds that each call took."""
    taken: list[float] = []
    ends = time.perf_counter() + seconds
    callers = [
        threading.Thread(target=_call, args=(place, path, ends, taken)) for _ in range(CLIENTS)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return taken


def _call(place: BenchPlace, path: str, ends: float, taken: list[float]) -> None:
    connection = http.client.HTTPConnection(urlsplit(place.url).netloc, timeout=30)
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {place.token}",
    }
    while (began := time.perf_counter()) < ends:
        connection.request("POST", path, json.dumps(body(place)), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in {201, 202}:
            raise RuntimeError(f"{path} answered {answer.status}: {text[:500]!r}")
        taken.append(time.perf_counter() - began)
    connection.close()


def body(place: BenchPlace) -> dict[str, Any]:
    """Return the body of a submission, under a new name."""
    return {
        "name": f"train-{next(numbers)}",
        "projectId": place.project,
        "clusterId": place.cluster,
        "spec": {
            "image": "kubeflow/pytorch-dist-mnist:latest",
            "numWorkers": 2,
            "distributedFramework": "PyTorch",
            "compute": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"},
        },
    }
