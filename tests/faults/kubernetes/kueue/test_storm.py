"""Many workloads through few seats, while the queue is drained and reopened at random and workloads
of higher priority push in.

``KUEUE_STORM`` is the number of workloads, ``KUEUE_SEED`` repeats a round.
"""

import os
import secrets
from collections import Counter
from functools import partial
from random import Random
from typing import Any

import pytest

from spec.phases import Phase
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.faults.kubernetes.kueue.workloads import fought_writes, submit
from tests.faults.kubernetes.site import Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes, pytest.mark.kueue]
COUNT = int(os.environ.get("KUEUE_STORM", "12"))
SEED = os.environ.get("KUEUE_SEED")
SEATS = 5
INTERFERENCES = 1 + COUNT // 6
SECONDS_PER_WORKLOAD = 12.0
#: A workload of this storm is never stopped, never fails, and never loses a rank without Kueue.
EXPECTED = {
    *(Phase.CREATING, Phase.PENDING, Phase.INITIALIZING),
    *(Phase.RUNNING, Phase.COMPLETED),
}


class Storm:
    """The workloads, and how Kueue is disturbed. ``random`` decides everything."""

    def __init__(self, site: Site, queue: Queue, random: Random) -> None:
        self.site = site
        self.queue = queue
        self.random = random
        self.ids: list[str] = []

    def submit(self, priority: str) -> None:
        kind = self.random.choice(["distributed", "trainings"])
        script = f"echo begins; sleep {self.random.randint(1, 6)}; echo ends"
        name = f"storm-{len(self.ids)}"
        self.ids.append(
            submit(
                self.site,
                name,
                script,
                kind=kind,
                priorityClass=priority,
                backoffLimit=3,  # with 0 an operator may fail what is resumed too early
                terminationGracePeriodSeconds=self.random.randint(1, 4),
            )
        )

    def rows(self) -> list[dict[str, Any]]:
        return list(self.site.rest.send("GET", "/workloads?limit=500")["workloads"])

    def phases(self) -> Counter[str]:
        return Counter(row["phase"] for row in self.rows())

    def is_at_work(self) -> bool:
        phases = self.phases()
        return phases["Running"] > 1 or self.is_over()

    def is_over(self) -> bool:
        phases = self.phases()
        return phases["Completed"] + phases["Failed"] + phases["Stopped"] == len(self.ids)

    def is_draining(self) -> bool:
        """Whether Kueue evicts somebody, or has nobody to evict."""
        return any(entry.is_evicted for entry in self.queue.entries()) or self.queue.taken() == 0

    def disturb(self) -> None:
        """Drain the queue, and open it again while its pods end or when it is empty; or push in."""
        match self.random.choice(["drain", "drain and release", "push in"]):
            case "drain":
                self.queue.hold("HoldAndDrain")
                wait_for(lambda: self.queue.taken() == 0, 60, "the queue to be empty", every=0.1)
            case "drain and release":
                self.queue.hold("HoldAndDrain")
                wait_for(self.is_draining, 60, "pods to be asked to end", every=0.1)
            case _:
                self.submit("high")
        self.queue.hold("None")


def test_a_storm_loses_stops_and_repeats_no_workload(site: Site, queue: Queue) -> None:
    seed = int(SEED or secrets.randbelow(2**32))
    print(f"KUEUE_SEED={seed}")  # noqa: T201 -- pytest shows it with a failure
    random = Random(seed)  # noqa: S311 -- the same again from the same seed
    queue.open(seats=SEATS)
    storm = Storm(site, queue, random)
    for _ in range(COUNT):
        storm.submit("low")
    for _ in range(INTERFERENCES):
        wait_for(storm.is_at_work, 120, "some to run", every=0.3)
        storm.disturb()
    wait_for(storm.is_over, SECONDS_PER_WORKLOAD * len(storm.ids), "all to end", every=0.5)
    assert {row["phase"]: row["name"] for row in storm.rows()}.keys() == {"Completed"}
    assert [row["run"] for row in storm.rows()] == [1] * len(storm.ids)
    histories = {workload: site.history(workload) for workload in storm.ids}
    odd = {workload: phases for workload, phases in histories.items() if {*phases} - EXPECTED}
    assert not odd
    for workload in storm.ids:
        site.is_there_once(workload)
        ends = partial(has_ended_once, site, workload)
        wait_for(ends, 30, f"the output of {workload}", every=0.2)
    assert fought_writes(site.proxy) == []
    assert queue.taken() == 0


def has_ended_once(site: Site, workload: str) -> bool:
    """Whether the last attempt of rank 0 printed its last line, once."""
    return site.rest.log(workload).count("ends") == 1
