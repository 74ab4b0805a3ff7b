"""Namespaces bear the mark of the Trainyard that uses them. No cluster."""

from typing import Any, cast

import pytest

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Conflict, Denied
from engines.kubernetes.labels import INSTALLATION, PROJECT, is_our_job
from engines.kubernetes.manifests.job import manifests
from engines.kubernetes.objects import TRIES, claim_namespace
from tests.engines.kubernetes.cases import case

MINE = "a1"
THEIRS = "b2"
NAME = "trainyard-vision"


class Spaces:
    """An API server that has one namespace at most."""

    def __init__(self, space: Manifest | None, error: Exception | None = None) -> None:
        self.space = space
        self.error = error
        self.asked = 0

    def find(self, path: str) -> Manifest | None:
        self.asked += 1
        return self.space

    def create(self, path: str, space: Manifest) -> None:
        if self.error:
            raise self.error
        self.space = space

    def merge(self, path: str, change: Manifest) -> None:
        if self.error:
            raise self.error
        assert self.space
        assert change["metadata"]["resourceVersion"] == self.space["metadata"]["resourceVersion"]
        self.space["metadata"]["labels"] |= change["metadata"]["labels"]

    @property
    def marks(self) -> dict[str, str]:
        assert self.space
        return dict(self.space["metadata"]["labels"])


def space(**labels: str) -> dict[str, Any]:
    marks = {PROJECT: "vision", **labels}
    return {"metadata": {"name": NAME, "labels": marks, "resourceVersion": "7"}}


def claim(spaces: Spaces, installation: str = MINE) -> None:
    marks = {INSTALLATION: installation} if installation else {}
    claim_namespace(cast(Api, spaces), space(**marks))


@pytest.mark.parametrize("before", [None, space(), space(**{INSTALLATION: MINE})])
def test_a_namespace_is_made_or_taken_over_with_our_mark(before: Manifest | None) -> None:
    spaces = Spaces(before)
    claim(spaces)
    assert spaces.marks == {PROJECT: "vision", INSTALLATION: MINE}


def test_a_namespace_of_another_trainyard_is_left_alone_and_refused_with_words() -> None:
    spaces = Spaces(space(**{INSTALLATION: THEIRS}))
    with pytest.raises(EngineRefused) as refused:
        claim(spaces)
    assert spaces.marks[INSTALLATION] == THEIRS
    assert "belongs to another Trainyard" in str(refused.value)
    assert f"kubectl label namespace {NAME} {INSTALLATION}-" in str(refused.value)


def test_an_account_that_may_not_mark_namespaces_uses_unmarked_ones_as_before() -> None:
    spaces = Spaces(space(), Denied("patch: not allowed"))
    claim(spaces)
    assert INSTALLATION not in spaces.marks


def test_a_claim_that_lost_a_race_looks_again() -> None:
    spaces = Spaces(space(), Conflict("it changed"))
    with pytest.raises(EngineUnavailable):
        claim(spaces)
    assert spaces.asked == TRIES


def test_namespace_job_and_pods_bear_the_mark() -> None:
    made, *_, job = manifests(case("pytorch"), prefix="trainyard-", installation=MINE)
    pods = [it["template"] for it in job["spec"]["pytorchReplicaSpecs"].values()]
    for item in (made, job, *pods):
        assert item["metadata"]["labels"][INSTALLATION] == MINE
    assert is_our_job("trainyard-", job, MINE)
    assert not is_our_job("trainyard-", job, THEIRS)
    del job["metadata"]["labels"][INSTALLATION]
    assert is_our_job("trainyard-", job, THEIRS), "from before there were marks"
