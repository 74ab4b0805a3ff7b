"""Two Trainyards with the same prefix leave each other's queues alone. No cluster."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from engines.base import EngineRefused, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.queues import update_queues
from engines.kubernetes.labels import INSTALLATION
from engines.kubernetes.names import department_queue, project_queue
from engines.queues import Queue
from tests.engines.kubernetes.queue_cases import WANTED

PREFIX = "trainyard-"
MINE = "a1"
THEIRS = "b2"
TEAM = WANTED[0]
RESEARCH = WANTED[2]


class Queues:
    """KAI's queues of a cluster, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Manifest] = {}
        self.writes = 0

    def all_items(self, path: str, **query: str) -> Iterator[Manifest]:
        yield from list(self.by_name.values())

    def apply(self, path: str, item: Manifest) -> None:
        self.writes += 1
        self.by_name[path.rpartition("/")[2]] = item

    def delete(self, path: str) -> None:
        self.writes += 1
        del self.by_name[path.rpartition("/")[2]]

    def marks(self) -> dict[str, Any]:
        return {
            name: item["metadata"]["labels"].get(INSTALLATION)
            for name, item in self.by_name.items()
        }


def kept(queues: Queues, *wanted: Queue, installation: str = MINE) -> int:
    """How many writes it took."""
    before = queues.writes
    update_queues(cast(Api, queues), PREFIX, lambda: wanted, installation=installation)
    return queues.writes - before


def test_queues_of_another_trainyard_with_the_same_prefix_stay() -> None:
    queues = Queues()
    kept(queues, RESEARCH, installation=THEIRS)
    for _ in range(3):
        kept(queues, installation=MINE)
    assert queues.marks() == {department_queue("research", PREFIX): THEIRS}
    with pytest.raises(EngineRefused, match="belongs to another Trainyard"):
        kept(queues, RESEARCH, TEAM)
    assert queues.marks()[department_queue("research", PREFIX)] == THEIRS


def test_queues_without_a_mark_are_taken_over_and_never_deleted() -> None:
    queues = Queues()
    kept(queues, RESEARCH, TEAM, installation="")
    assert set(queues.marks().values()) == {None}
    kept(queues)
    assert len(queues.by_name) == 2, "they may be another's, from before there were marks"
    assert kept(queues, RESEARCH, TEAM) == 2
    assert set(queues.marks().values()) == {MINE}
    assert kept(queues, RESEARCH, TEAM) == 0
    kept(queues, RESEARCH)
    assert project_queue("team-a", PREFIX) not in queues.by_name
