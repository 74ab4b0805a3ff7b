"""The followers of a gang are suspended and resumed as their lead is."""

from typing import Any
from uuid import UUID

import pytest

from engines.base import EngineUnavailable
from engines.kubernetes.jobs import PLAIN_JOB
from engines.kubernetes.keeper import FollowerKeeper
from engines.kubernetes.labels import RANK, WORKLOAD
from engines.kubernetes.watch.snapshot import Snapshot

UID = UUID(int=1)


class Patches:
    """The part of an API that the keeper uses. Its first calls may go unanswered."""

    def __init__(self, *, outages: int = 0) -> None:
        self.outages = outages
        self.made: list[tuple[str, Any]] = []

    def merge(self, path: str, body: dict[str, Any]) -> None:
        if self.outages:
            self.outages -= 1
            raise EngineUnavailable("no answer")
        self.made.append((path.rsplit("/", 1)[1], body["spec"]["suspend"]))


def job(name: str, *conditions: str, suspend: bool, owner: str = "") -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": "team-a", "uid": name}
    meta |= {"labels": {WORKLOAD: str(UID), RANK: "0"}, "resourceVersion": "1"}
    if owner:
        meta["ownerReferences"] = [{"uid": owner}]
    held = [{"type": it, "status": "True"} for it in conditions]
    return {"metadata": meta, "spec": {"suspend": suspend}, "status": {"conditions": held}}


def followed(api: Any, lead: dict[str, Any], *followers: dict[str, Any]) -> FollowerKeeper:
    snapshot = Snapshot()
    snapshot.take_job(PLAIN_JOB, "ADDED", lead)
    for follower in followers:
        snapshot.take_follower("ADDED", follower)
    keeper = FollowerKeeper(api)
    keeper.on_change(UID, snapshot)
    keeper.follow()
    return keeper


@pytest.mark.parametrize(
    ("lead", "follower", "made"),
    [
        (job("lead", suspend=False), job("f", suspend=False, owner="lead"), []),
        (job("lead", suspend=True), job("f", suspend=False, owner="lead"), [("f", True)]),
        (job("lead", suspend=False), job("f", suspend=True, owner="lead"), [("f", False)]),
        (
            job("lead", "Complete", suspend=False),
            job("f", suspend=False, owner="lead"),
            [("f", True)],
        ),
        (job("lead", suspend=True), job("f", "Failed", suspend=False, owner="lead"), []),
        (job("lead", suspend=True), job("f", suspend=False, owner="that of before"), []),
    ],
)
def test_followers_do_as_their_lead_does(
    lead: dict[str, Any], follower: dict[str, Any], made: list[tuple[str, bool]]
) -> None:
    api = Patches()
    followed(api, lead, follower)
    assert api.made == made


def test_what_the_cluster_did_not_hear_is_said_again() -> None:
    api = Patches(outages=1)
    lead = job("lead", suspend=True)
    keeper = followed(api, lead, job("f", suspend=False, owner="lead"))
    assert api.made == []
    keeper.follow()
    assert api.made == [("f", True)]
