"""Gangs that are placed in part are suspended, and resumed in turn."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine

from engines.base import EngineError, EngineUnavailable
from engines.kubernetes.client.api import Conflict
from engines.kubernetes.gang_keeper import GangKeeper
from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.labels import TAKEN_BACK
from engines.kubernetes.watch.snapshot import Snapshot
from tests.engines.kubernetes.objects import START
from tests.engines.kubernetes.placing import indexed_job, later, rank

OLD = UUID(int=1)
YOUNG = UUID(int=2)


class Server:
    """Keeps the jobs and does what it is asked to, unless it has an ``error``."""

    def __init__(self) -> None:
        self.jobs: dict[UUID, dict[str, Any]] = {}
        self.asked: list[tuple[str, bool]] = []
        self.error: EngineError | None = None

    def merge(self, path: str, body: dict[str, Any]) -> None:
        if self.error:
            raise self.error
        name = path.rsplit("/", 1)[1]
        job = next(one for one in self.jobs.values() if one["metadata"]["name"] == name)
        assert body["metadata"]["resourceVersion"] == job["metadata"]["resourceVersion"]
        job["metadata"]["annotations"] |= body["metadata"]["annotations"]
        job["spec"] |= body["spec"]
        self.asked.append((name, body["spec"]["suspend"]))


class Cluster:
    """A keeper, and what it sees of gangs of three ranks."""

    def __init__(self, patience: float = 60) -> None:
        self.server = Server()
        api: Any = self.server
        self.keeper = GangKeeper(api, timedelta(seconds=patience))

    def show(self, uid: UUID, *, placed: int, pods: int = 3) -> None:
        job = self.server.jobs.setdefault(uid, indexed_job(uid=uid, created=uid.int))
        snapshot = Snapshot()
        for index in range(pods):
            pod = rank(index, placed=1 if index < placed else None)
            pod["metadata"]["ownerReferences"] = [{"uid": job["metadata"]["uid"]}]
            snapshot.take_pod("ADDED", pod)
        snapshot.take_job(PLAIN_JOB, "ADDED", job)
        self.keeper.on_change(uid, snapshot)

    def end(self, uid: UUID) -> None:
        self.keeper.on_change(uid, Snapshot())

    def turn(self) -> list[str]:
        return [event.reason for event in self.keeper.take_turns()]


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as clock:
        yield clock


def test_two_gangs_that_hold_half_each_run_one_after_the_other(
    clock: time_machine.Traveller,
) -> None:
    cluster = Cluster()
    cluster.show(YOUNG, placed=2)
    cluster.show(OLD, placed=1)
    assert cluster.turn() == []
    clock.move_to(later(61))
    assert cluster.turn() == ["TakenBack"]
    assert cluster.server.asked == [("gang-2", True)]

    cluster.show(YOUNG, placed=0, pods=0)
    cluster.show(OLD, placed=3)
    assert cluster.turn() == []
    clock.move_to(later(70))
    cluster.end(OLD)
    assert cluster.turn() == ["TriedAgain"]
    assert cluster.server.asked[1:] == [("gang-2", False)]
    note = json.loads(cluster.server.jobs[YOUNG]["metadata"]["annotations"][TAKEN_BACK])
    assert (note["times"], note["placed"], note["at"]) == (1, 2, "")


def test_a_second_take_back_counts_on(clock: time_machine.Traveller) -> None:
    cluster = Cluster()
    cluster.show(OLD, placed=2)
    clock.move_to(later(61))
    assert cluster.turn() == ["TakenBack"]
    cluster.show(OLD, placed=0, pods=0)
    clock.move_to(later(122))
    assert cluster.turn() == ["TriedAgain"]
    cluster.show(OLD, placed=2)
    clock.move_to(later(183))
    assert cluster.turn() == ["TakenBack"]
    note = json.loads(cluster.server.jobs[OLD]["metadata"]["annotations"][TAKEN_BACK])
    assert note["times"] == 2


@pytest.mark.parametrize("error", [Conflict("changed"), EngineUnavailable("no answer")])
def test_a_take_back_that_failed_is_tried_the_next_time(
    clock: time_machine.Traveller, error: EngineError
) -> None:
    cluster = Cluster()
    cluster.show(OLD, placed=2)
    clock.move_to(later(61))
    cluster.server.error = error
    assert cluster.turn() == []
    cluster.server.error = None
    assert cluster.turn() == ["TakenBack"]


def test_no_gang_is_taken_back_if_that_is_turned_off(clock: time_machine.Traveller) -> None:
    cluster = Cluster(patience=0)
    cluster.show(OLD, placed=2)
    clock.move_to(later(9999))
    assert cluster.turn() == []
