"""Repositories and buckets that a credential opens, fetched on this machine."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest

from engines.base import Launch
from engines.local.records.volume import GIT, Volume
from engines.local.volumes import git
from spec.phases import Phase, Reason
from tests.engines.local import forges
from tests.engines.local.conftest import LocalRig
from tests.engines.local.forges import SshForge
from tests.engines.local.volumes import mounting, needs_mounts
from tests.waiting import wait_for

PASSWORD = "p@ss:wörd '1\" %s"
AT = "/trainyard-code"
READ = f"cat {AT}/version"


def opening(rig: LocalRig, script: str, values: Mapping[str, str], repository: str) -> Launch:
    pk = uuid4()
    credential = {"assetId": str(pk), "name": "forge"}
    source: dict[str, Any] = {"repository": repository, "path": AT, "credential": credential}
    return replace(mounting(rig, script, workers=2, git=[source]), secrets={pk: dict(values)})


def last_line(rig: LocalRig, launched: Launch, rank: int = 0) -> str:
    return rig.log(launched, rank).splitlines()[-1]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    needs_mounts(tmp_path)
    forges.make_repository(tmp_path / "code")
    return tmp_path / "code"


@pytest.fixture
def guarded(code: Path) -> Iterator[str]:
    with forges.web(code.parent, known=f"ada:{PASSWORD}") as address:
        yield f"{address}/code/.git"


@pytest.fixture
def forge(tmp_path: Path, code: Path) -> Iterator[SshForge]:
    with forges.ssh(tmp_path, code) as found:
        yield found


def test_a_password_opens_a_repository_and_is_on_no_command_line(
    rig: LocalRig, guarded: str
) -> None:
    values = {"User": "ada", "Password": PASSWORD}
    waits = f'{READ}; while ! [ -e "$CHECKPOINT_DIR/go" ]; do sleep 0.05; done'
    launched = opening(rig, waits, values, guarded)
    lines: set[str] = set()

    def speaks() -> bool:
        lines.update(" ".join(it.info["cmdline"] or ()) for it in psutil.process_iter(["cmdline"]))
        return rig.log(launched).endswith("2\n")

    rig.submit(launched)
    wait_for(speaks, 20, "the rank to read it", every=0.01)
    assert not [line for line in lines if PASSWORD in line]
    files = [path for path in rig.home.rglob("*") if path.is_file()]
    files_with_key = {path.name for path in files if "ss:w" in path.read_text(errors="replace")}
    assert files_with_key == {"secrets.json"}, "in no clone, and no configuration of one"
    (rig.folder(launched).checkpoints / "go").touch()
    assert rig.over(launched).phase is Phase.COMPLETED
    wait_for(lambda: not rig.folder(launched).secrets(1).exists(), 10, "it to go with the run")


def test_a_password_follows_a_redirect_to_https_on_the_same_server(
    code: Path, tmp_path: Path
) -> None:
    keys = {"User": "ada", "Password": PASSWORD}
    with forges.redirecting(code.parent, f"ada:{PASSWORD}", tmp_path) as address:
        origin = f"{address}/code/.git"
        volume = Volume(GIT, AT, "code", origin=origin, credential=str(uuid4()))
        (clone,) = git.commands(volume, tmp_path / "clone")
        env = {**os.environ, **git.variables(volume, keys, tmp_path), "GIT_SSL_NO_VERIFY": "1"}
        subprocess.run(clone, env=env, check=True, capture_output=True)
    assert (tmp_path / "clone/version").read_text() == "2\n"


def test_a_wrong_password_says_what_to_check_and_not_the_password(
    rig: LocalRig, guarded: str
) -> None:
    values = {"User": "ada", "Password": "wr0ng-and-hidden"}
    launched = rig.submit(opening(rig, READ, values, guarded))
    ended = rig.over(launched)
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.REFUSED)
    assert f"{guarded} could not be fetched for {AT}. Check its address, its credential," in (
        ended.message
    )
    assert "wr0ng-and-hidden" not in ended.message + rig.log(launched)


def test_a_key_opens_a_repository_of_a_host_that_it_knows(rig: LocalRig, forge: SshForge) -> None:
    values = {"ssh": forge.key.strip(), "known_hosts": forge.known}
    launched = rig.submit(opening(rig, READ, values, forge.repository))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    assert [last_line(rig, launched, rank) for rank in (0, 1)] == ["2", "2"]
    assert not [it for it in rig.home.rglob("*") if it.is_file() and "OPENSSH" in it.read_text()]


def test_a_key_is_not_shown_to_another_host(rig: LocalRig, forge: SshForge, tmp_path: Path) -> None:
    _, other = forges.make_key(tmp_path / "another")
    place = forge.known.split()[0]
    for hosts in (f"{place} {other}", forge.known.replace(place, "example.com")):
        values = {"ssh": forge.key, "known_hosts": hosts}
        ended = rig.over(rig.submit(opening(rig, READ, values, forge.repository)))
        assert ended.phase is Phase.FAILED
        assert "Host key verification failed" in ended.message


def test_a_rank_of_a_lost_key_is_not_started(rig: LocalRig, guarded: str) -> None:
    launched = rig.submit(opening(rig, READ, {}, guarded))
    plan = rig.engine.plan(launched)
    assert replace(plan, keys={}).lacks_secrets
    assert not plan.lacks_secrets


def test_no_document_of_a_plan_has_a_key(rig: LocalRig) -> None:
    values = {"User": "ada", "Password": PASSWORD}
    launched = opening(rig, READ, values, "https://example.com/x")
    plan = rig.engine.plan(launched)
    shown = str(rig.engine.render(launched)) + repr(plan) + str(plan.to_json())
    assert PASSWORD not in shown
    assert type(plan).from_json(plan.to_json(), plan.secrets) == plan
