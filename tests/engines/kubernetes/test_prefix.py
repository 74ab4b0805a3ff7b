"""Nothing is submitted where only another Trainyard uses the prefix. No cluster."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from engines.base import EngineRefused, Manifest
from engines.kubernetes.client.api import Api, Denied
from engines.kubernetes.cluster.prefix import PrefixGuard, PrefixUse
from engines.kubernetes.engine import KubernetesEngine
from engines.kubernetes.labels import INSTALLATION, PROJECT

KNOWN = "takes no workloads now: another Trainyard uses its namespace prefix. Ask"
MINE = "a1"
THEIRS = "b2"


class Spaces:
    """An API server with namespaces of these marks, one project each; ``None`` may not be read."""

    def __init__(self, *marks: str) -> None:
        self.marks: list[str] | None = list(marks)
        self.asked = 0

    def all_items(self, path: str, **query: Any) -> Iterator[Manifest]:
        self.asked += 1
        if self.marks is None:
            raise Denied("namespaces: list: not allowed")
        for number, mark in enumerate(self.marks):
            labels = {PROJECT: f"p{number}"} | ({INSTALLATION: mark} if mark else {})
            yield {"metadata": {"name": f"trainyard-p{number}", "labels": labels}}


def guard(spaces: Spaces, prefix: str = "trainyard-", installation: str = MINE) -> PrefixGuard:
    return PrefixGuard(cast(Api, spaces), prefix, installation)


@pytest.mark.parametrize(
    "marks",
    [[], [MINE], [""], [THEIRS, MINE], [THEIRS, ""]],
    ids=["new", "restored", "from before marks", "both", "both, from before marks"],
)
def test_a_prefix_that_we_use_or_nobody_is_ours(marks: list[str]) -> None:
    guard(Spaces(*marks)).check()


def test_a_prefix_of_another_trainyard_is_refused_until_it_is_released() -> None:
    spaces = Spaces(THEIRS, THEIRS)
    with pytest.raises(EngineRefused, match=KNOWN) as refused:
        guard(spaces).check()
    assert THEIRS not in str(refused.value)  # a workload shows it to its owner
    guard(spaces, prefix="other-").check()
    guard(spaces, installation="").check()
    spaces.marks = ["", ""]
    guard(spaces).check()


def test_no_queue_is_made_under_a_prefix_of_another_trainyard() -> None:
    engine = KubernetesEngine(cast(Api, Spaces(THEIRS)), installation=MINE)
    with pytest.raises(EngineRefused, match=KNOWN):
        engine.keep_queues(lambda: pytest.fail("No queue may be wanted there."))


def test_the_guard_looks_until_we_have_a_namespace() -> None:
    spaces = Spaces()
    one = guard(spaces)
    one.check()
    spaces.marks = [THEIRS]
    with pytest.raises(EngineRefused):
        one.check()
    spaces.marks = [THEIRS, MINE]
    one.check()
    one.check()
    assert spaces.asked == 3


def test_an_account_that_may_not_list_namespaces_goes_on() -> None:
    spaces = Spaces()
    spaces.marks = None
    guard(spaces).check()


def test_a_refusal_names_some_namespaces_and_every_mark() -> None:
    said = PrefixUse("t-", is_ours=False, others={"b2": ["t-a", "t-b"], "c3": ["t-c", "t-d"]})
    assert "by other Trainyards, known there by the mark b2, c3: t-a, t-b, t-c and 1 more." in (
        said.refusal
    )
    released = f"-l '{INSTALLATION} in (b2, c3)' {INSTALLATION}-"
    assert f'"kubectl label namespace {released}"' in said.refusal
    assert f'"kubectl label queues.scheduling.run.ai {released}"' in said.refusal
