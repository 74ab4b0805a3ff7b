"""Git repositories on this machine: fetched before the ranks start, or why not."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.base import EngineRefused
from spec.phases import Phase, Reason
from spec.problems.causes import Cause, CauseKind
from tests.engines.local import forges
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import mounting, needs_mounts
from tests.waiting import wait_for


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    needs_mounts(tmp_path)
    forges.make_repository(tmp_path / "code")
    with forges.web(tmp_path) as address:
        yield f"{address}/code/.git"


@pytest.fixture
def unanswered() -> Iterator[str]:
    """A server that takes calls and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/code"


def test_each_rank_has_the_revision_that_is_named(rig: LocalRig, repository: str) -> None:
    sources = [
        {"repository": repository, "path": "/trainyard-code"},
        {"repository": repository, "path": "/trainyard-old", "revision": "v1"},
    ]
    script = "cat /trainyard-code/version /trainyard-old/version; git -C /trainyard-code status -sb"
    launched = rig.submit(mounting(rig, script, workers=2, git=sources))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    for rank in (0, 1):
        said = re.sub(r"\(\d+\.\d s\)", "(1 s)", rig.log(launched, rank))
        fetched = [f"Fetched {repository} for {it['path']} (1 s)." for it in sources]
        assert said.splitlines() == [*fetched, "2", "1", "## main...origin/main"]
    assert not (rig.folder(launched).run_folder(1) / "volumes").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"branch": "nobody"}, "nobody not found"), ({"revision": "f00"}, "'f00' did not match")],
)
def test_a_repository_that_cannot_be_fetched_says_why(
    rig: LocalRig, repository: str, wrong: dict[str, str], said: str
) -> None:
    source = {"repository": repository, "path": "/trainyard-code", **wrong}
    ended = rig.over(rig.submit(mounting(rig, "true", git=[source])))
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.REFUSED)
    assert f"{repository} at {next(iter(wrong.values()))} could not be fetched" in ended.message
    assert said in ended.message


def test_between_two_tries_the_cause_is_that_data_could_not_be_fetched(
    rig: LocalRig, repository: str
) -> None:
    rig.engine = rig.with_delay(restart_delay=60)
    source = {"repository": repository, "path": "/trainyard-code", "branch": "nobody"}
    launched = rig.submit(mounting(rig, "true", retries=1, git=[source]))

    def seen() -> Cause | None:
        observed = rig.engine.observe(launched.handle)
        return observed.cause if observed else None

    cause = wait_for(seen, 20, "the cause")
    assert cause
    assert (cause.kind, cause.title) == (CauseKind.DATA, "The data could not be fetched")
    assert "nobody not found" in cause.said
    assert "nobody not found" in rig.log(launched), "people look there, too"


def test_a_fetch_that_never_ends_can_be_stopped(rig: LocalRig, unanswered: str) -> None:
    source = {"repository": unanswered, "path": "/trainyard-code"}
    launched = rig.submit(mounting(rig, "true", git=[source]))
    handle = launched.handle
    fetching = f"Fetching {unanswered} for /trainyard-code."
    wait_for(lambda: (it := rig.engine.observe(handle)) and it.message == fetching, 20, "the fetch")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert not rig.processes(launched)


def test_a_repository_that_a_secret_of_kubernetes_opens_is_refused(rig: LocalRig) -> None:
    source = {"repository": "https://h/x", "path": "/x", "secretRef": {"name": "mine"}}
    with pytest.raises(EngineRefused, match="no Secrets") as refusal:
        rig.engine.submit(mounting(rig, "true", git=[source]))
    assert refusal.value.field == "worker.storage.git[0].secretRef"
