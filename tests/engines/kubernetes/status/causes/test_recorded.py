"""Recorded cases of workloads that do not run, and the cause that people are told. Pure."""

import pytest

from spec.phases import Reason
from tests.engines.kubernetes.objects import MASTER, look, pod
from tests.engines.kubernetes.status.causes.recorded import (
    NO_PULL_SECRET,
    PENDING,
    PULLS,
    of_worker,
)
from tests.engines.kubernetes.status.causes.recorded_starts import STARTED

CASES = PENDING | STARTED


@pytest.mark.parametrize("name", CASES)
def test_each_recorded_case_has_the_right_cause(name: str) -> None:
    recorded = CASES[name]
    seen = recorded.seen()
    assert seen.cause
    assert (seen.cause.title, seen.phase) == (recorded.title, recorded.phase)
    assert seen.cause.todo
    assert seen.message


@pytest.mark.parametrize("name", CASES)
def test_a_cause_names_the_rank_or_the_workload(name: str) -> None:
    seen = CASES[name].seen()
    assert seen.cause
    of_rank = [rank.message for rank in seen.ranks if rank.message]
    assert seen.message.removeprefix(f"{seen.cause.who}: ") in [seen.cause.message, *of_rank]


@pytest.mark.parametrize("name", ["gate", "slow start", "not ready", "sidecar"])
def test_a_wait_that_nothing_refused_has_no_reason(name: str) -> None:
    seen = CASES[name].seen()
    assert seen.cause
    assert (seen.cause.reason, seen.reason) == (Reason.NONE, Reason.NONE)


def test_a_missing_pull_secret_is_named_with_the_image() -> None:
    worker = pod("worker", 0, container={"state": PULLS, "image": "train:2"})
    warning = of_worker("FailedToRetrieveImagePullSecret", NO_PULL_SECRET)
    seen = look(MASTER, worker, events=[warning])
    assert seen.cause
    assert seen.cause.todo.startswith("The project's namespace has no pull secret regcred:")


def test_a_start_that_takes_long_quotes_the_nodes_last_warning() -> None:
    recorded = CASES["slow start"]
    earlier = of_worker("FailedScheduling", "0/1 nodes are available", second=-5)
    sandbox = of_worker("FailedCreatePodSandBox", "plugin type=bridge failed (add): no address")
    seen = look(*recorded.pods, events=[earlier, sandbox], now=recorded.now)
    assert seen.cause
    assert (seen.cause.title, seen.cause.said) == (recorded.title, sandbox["message"])
    seen = look(*recorded.pods, events=[earlier], now=recorded.now)
    assert seen.cause
    assert seen.cause.said == "ContainerCreating"
