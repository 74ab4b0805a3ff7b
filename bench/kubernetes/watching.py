"""Measures what it costs to watch quiet workloads, and how soon a change of a pod is in the
database.

The cluster needs the training operator and simulated nodes with room for 2,000 pods, and nothing
else.
"""

import sqlite3
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any
from uuid import UUID

import psutil

from bench.kubernetes.place import IMAGE, BenchSite, kubectl
from bench.report import Measurement, percentile
from engines.base import Handle
from engines.kubernetes.names import job_name
from tests.rest import Rest
from tests.waiting import wait_for

FEW = 200
MANY = 2_000
CALLERS = 8
SETTLING = 60.0  # seconds after all run, for the rest of the work that submitting causes
QUIET = 310.0  # seconds of watching while nothing happens, long enough for one complete list
CHANGES = 100
LONGEST = 900.0
# The annotation that simulated nodes obey, and their label: a real node would take some of the
# pods.
FOREVER = [{"name": "fake/run-seconds", "value": "forever"}]
SIMULATED = {"key": "trainyard-kube/fake", "operator": "In", "values": ["true"]}


def rows(place: BenchSite) -> Iterator[Measurement]:
    with place.rest() as rest:
        names = [f"quiet-{number}" for number in range(MANY)]
        running = _run(place, rest, names[:FEW])
        few = _quiet(place)
        running |= _run(place, rest, names[FEW:])
        many = _quiet(place)
        yield Measurement(
            what=f"The worker's CPU while {MANY:,} workloads are quiet, in {QUIET:.0f} s",
            ours=many.cpu,
            unit="s",
            limit=1.3,
            peer=few.cpu,
            peer_name=f"at {FEW}",
        )
        yield from _changes(place, dict(list(running.items())[:CHANGES]), many)


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the worker in ``QUIET`` seconds, and its resident memory in bytes at
    the end."""

    cpu: float
    memory: int


def _run(place: BenchSite, rest: Rest, names: list[str]) -> dict[str, str]:
    """Submit workloads of one pod each, wait until the database says that all run, and return their
    ids by name."""

    def submit(name: str) -> tuple[str, str]:
        terms = [{"matchExpressions": [SIMULATED]}]
        spec = {
            "image": IMAGE,
            "annotations": FOREVER,
            "nodeAffinityRequired": {"nodeSelectorTerms": terms},
        }
        return name, rest.submit(name, workers=1, noMaster=True, **spec)

    with ThreadPoolExecutor(CALLERS) as pool:
        workloads = dict(pool.map(submit, names))
    with database(place) as ask:
        query = "SELECT count(*) FROM workloads_workload WHERE phase = 'Running' AND name IN ({})"
        count = query.format(",".join("?" * len(names)))
        wait_for(lambda: ask(count, names) == len(names), LONGEST, "all to run", every=1.0)
    return workloads


def _quiet(place: BenchSite) -> Cost:
    worker = psutil.Process(place.trainyard.pids()["worker"])
    time.sleep(SETTLING)
    before = worker.cpu_times()
    time.sleep(QUIET)
    after = worker.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    return Cost(cpu, worker.memory_info().rss)


def _changes(place: BenchSite, workloads: dict[str, str], cost: Cost) -> Iterator[Measurement]:
    ours = []
    against = []
    with printed(place) as printed_at, database(place) as ask:
        for name, workload in workloads.items():
            pod = f"{job_name(Handle(UUID(workload), name, place.project))}-worker-0"
            started = time.time()
            _end(place, pod)
            shown = wait_for(partial(_shown, ask, workload), 30, name, every=0.005)
            ours.append(shown - started)
            against.append(shown - wait_for(partial(printed_at.__getitem__, pod), 30, pod))
    share = cost.cpu / QUIET
    memory = cost.memory / 1000**2
    yield Measurement(
        what=f"A pod's change of phase to its row in the database, p95 of {CHANGES}, "
        f"{MANY:,} pods (quiet, the worker takes {share:.0%} of a core and {memory:.0f} MB)",
        ours=percentile(ours, 0.95),
        unit="s",
        limit=1.0,
    )
    yield Measurement(
        what="The same change, later than kubectl get pods -w prints it, median",
        ours=median(against) * 1000,
        unit="ms",
        limit=300,
    )


def _end(place: BenchSite, pod: str) -> None:
    """Report, as a kubelet does, that the pod's container ended with 0."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}
    status = {
        "phase": "Succeeded",
        "containerStatuses": [
            {
                "name": "pytorch",
                "image": IMAGE,
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": ended},
            }
        ],
    }
    path = f"/api/v1/namespaces/{place.namespace}/pods/{pod}/status"
    place.api.merge(path, {"status": status})


def _shown(ask: Any, workload: str) -> float:
    """Return the time, in seconds since 1970, if the row of the only rank says that it ended, else
    0."""
    query = "SELECT count(*) FROM workloads_rank WHERE workload_id = ? AND phase = 'Succeeded'"
    return time.time() if ask(query, [UUID(workload).hex]) else 0.0


@contextmanager
def database(place: BenchSite) -> Iterator[Any]:
    """Yield a function that returns a count from Trainyard's database, which it only reads."""
    path = place.trainyard.home / "trainyard.sqlite3"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        yield lambda query, values: connection.execute(query, values).fetchone()[0]
    finally:
        connection.close()


@contextmanager
def printed(place: BenchSite) -> Iterator[dict[str, float]]:
    """Yield the times at which ``kubectl get pods -w`` first showed each pod as completed."""
    times: dict[str, float] = defaultdict(float)
    command = [kubectl(), "--kubeconfig", str(place.kubeconfig), "-n", place.namespace]
    process = subprocess.Popen(
        [*command, "get", "pods", "--watch", "--no-headers"], stdout=subprocess.PIPE, text=True
    )

    def read() -> None:
        for line in process.stdout or ():
            name, _, status, *_ = line.split()
            if status == "Completed":
                times[name] = times[name] or time.time()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield times
    finally:
        process.terminate()
        reader.join()
        process.wait()
