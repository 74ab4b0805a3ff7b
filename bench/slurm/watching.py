"""Measures what it costs to watch quiet jobs, and how soon a change in Slurm is in the database."""

import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any
from uuid import UUID

import psutil

from bench.report import Measurement, percentile
from bench.slurm.place import WORKLOAD, SlurmBench, as_user
from engines.slurm.layout import job_name
from engines.slurm.watch.watcher import INTERVAL
from tests.rest import Rest
from tests.slurm_testbed import USER
from tests.waiting import wait_for

FEW = 100
MANY = 1_000
CALLERS = 8
SETTLING = 10.0  # seconds for the rest of the work that submitting causes
QUIET = 60.0  # seconds of watching while nothing happens
CHANGES = 40
LONGEST = 600.0
# who reads the queue, and the seconds between two reads
PEER = "alice"
PEER_SECONDS = 5.0
SPENT = r"\b{}\s*\([^)]*\)\s*count:(\d+)\s*ave_time:\d+\s*total_time:(\d+)"


@dataclass(frozen=True)
class Requests:
    """The requests of one user to slurmctld, and the seconds that it spent on them.

    On a busy machine, the seconds include waiting; the number of requests does not.
    """

    count: int
    seconds: float

    def since(self, before: "Requests") -> "Requests":
        """Return what was added after ``before``."""
        return Requests(self.count - before.count, self.seconds - before.seconds)


@dataclass(frozen=True)
class QuietCost:
    """CPU seconds of the worker in ``QUIET`` seconds, and the requests of Trainyard and the
    peer."""

    cpu: float
    ours: Requests
    peer: Requests


def rows(place: SlurmBench) -> Iterator[Measurement]:
    with place.rest() as rest:
        _fill(place, rest, FEW)
        before = _quiet(place)
        uids = _fill(place, rest, MANY)
    many = _quiet(place)
    delays = _changes(place, uids[:CHANGES])
    yield Measurement(
        what=f"The worker's CPU while {MANY:,} jobs are quiet, in {QUIET:.0f} s",
        ours=many.cpu,
        unit="s",
        limit=1.3,
        peer=before.cpu,
        peer_name=f"at {FEW}",
    )
    yield Measurement(
        what=f"slurmctld's time for all {many.ours.count} requests of Trainyard meanwhile, "
        f"{MANY:,} jobs",
        ours=many.ours.seconds,
        unit="s",
        limit=1.0,
        peer=many.peer.seconds,
        peer_name=f"one squeue every {PEER_SECONDS:g} s by someone else, "
        f"{many.peer.count} requests",
    )
    yield Measurement(
        what=f"A job's change of state in Slurm to its row in the database, p95 of {CHANGES}, "
        f"{MANY:,} jobs, asked every {INTERVAL:g} s",
        ours=percentile(delays, 0.95),
        unit="s",
        limit=INTERVAL + 1,
    )


def _fill(place: SlurmBench, rest: Rest, count: int) -> list[str]:
    """Submit until ``count`` jobs wait and Trainyard has seen all of them. Returns the new
    workloads' ids."""
    there = place.waiting("ty-")

    def submit(number: int) -> str:
        return rest.submit(f"quiet-{number}", workers=3, **WORKLOAD)

    with ThreadPoolExecutor(CALLERS) as pool:
        uids = list(pool.map(submit, range(there, count)))
    with _database(place) as ask:
        query = (
            "SELECT count(*) FROM workloads_workload WHERE phase = 'Pending' AND observed_run > 0"
        )
        wait_for(lambda: ask(query) >= count, LONGEST, "all to be seen", every=1.0)
    time.sleep(SETTLING)
    return uids


def _quiet(place: SlurmBench) -> QuietCost:
    worker = psutil.Process(place.trainyard.pids()["worker"])
    over = Event()

    def ask() -> None:
        due = time.monotonic()
        while not over.wait(max(0.0, due - time.monotonic())):
            due += PEER_SECONDS
            as_user("squeue", "--noheader", f"--user={USER}", "--states=all", user=PEER)

    with _asking(ask, over):
        cpu, ours, peer = _times(worker)
        time.sleep(QUIET)
        cpu_after, ours_after, peer_after = _times(worker)
    return QuietCost(cpu_after - cpu, ours_after.since(ours), peer_after.since(peer))


@contextmanager
def _asking(ask: Callable[[], None], over: Event) -> Iterator[None]:
    thread = Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _times(worker: psutil.Process) -> tuple[float, Requests, Requests]:
    """Return the CPU seconds of the worker, and what Trainyard's user and the peer requested, as
    slurmctld counts it."""
    times = worker.cpu_times()
    said = as_user("sdiag")
    spent = (re.search(SPENT.format(user), said) for user in (USER, PEER))
    ours, peer = (
        Requests(int(it[1]), int(it[2]) / 1e6) if it else Requests(0, 0.0) for it in spent
    )
    return times.user + times.system, ours, peer


def _changes(place: SlurmBench, uids: list[str]) -> list[float]:
    """Cancel each job on the cluster, at a random moment between two reads, and return the seconds
    until its row shows it."""
    began: dict[str, float] = {}
    delays: dict[str, float] = {}
    query = "SELECT count(*) FROM workloads_workload WHERE id = ? AND phase = 'Stopped'"
    with _database(place) as ask:

        def look() -> bool:
            for uid in began.keys() - delays.keys():
                if ask(query, UUID(uid).hex):
                    delays[uid] = time.time() - began[uid]
            return len(delays) == len(uids)

        for uid in uids:
            as_user("scancel", f"--name={job_name(UUID(uid), 1)}")
            began[uid] = time.time()
            until = began[uid] + random.uniform(0, 0.5)  # noqa: S311 -- not a secret
            while time.time() < until:
                look()
                time.sleep(0.02)
        wait_for(look, LONGEST, "all changes to be seen", every=0.02)
    return list(delays.values())


@contextmanager
def _database(place: SlurmBench) -> Iterator[Any]:
    """Yield a function that returns a count from Trainyard's database, which it only reads."""
    path = place.trainyard.home / "trainyard.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        yield lambda query, *values: connection.execute(query, values).fetchone()[0]
