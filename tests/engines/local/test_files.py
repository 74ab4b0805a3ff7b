"""Credentials and settings as files that ranks of this machine read."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from engines.base import Launch
from engines.local.records.layout import Folder
from engines.local.volumes.view import prepare_view, write_files
from engines.shared import mounts
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import mounting, needs_mounts
from tests.waiting import wait_for

KEYS = "/trainyard-keys"
CONF = "/trainyard-conf"
HIDDEN = "tr41n-l1ke-nobody-reads"


def with_files(rig: LocalRig, script: str, retries: int = 0) -> Launch:
    pk = uuid4()
    named = {"assetId": str(pk), "name": "hub", "keys": ["token", "cert.pem"]}
    conf = {
        "files": [{"name": "train.yaml", "content": "lr: 0.1\n"}],
        "mountPath": CONF,
        "defaultMode": "0444",
    }
    launched = mounting(
        rig,
        script,
        workers=2,
        retries=retries,
        secretVolume=[{"credential": named, "mountPath": KEYS}],
        configMapVolume=[conf],
    )
    return replace(launched, secrets={pk: {"token": HIDDEN, "cert.pem": "c", "other": "none"}})


def test_ranks_read_the_keys_of_a_credential_and_a_configuration(
    rig: LocalRig, tmp_path: Path
) -> None:
    needs_mounts(tmp_path)
    show = f"stat -c %a:%n {KEYS}/* {CONF}/*; cat {CONF}/train.yaml; wc -c < {KEYS}/token"
    change = f"touch {KEYS}/new 2>/dev/null || echo unchangeable"
    launched = rig.submit(with_files(rig, f"{show}; {change}"))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    for rank in (0, 1):
        assert rig.log(launched, rank).splitlines() == [
            f"600:{KEYS}/cert.pem",
            f"600:{KEYS}/token",
            f"444:{CONF}/train.yaml",
            "lr: 0.1",
            str(len(HIDDEN)),
            "unchangeable",
        ]

    def holding() -> list[Path]:
        files = (path for path in rig.home.rglob("*") if path.is_file())
        return [path for path in files if HIDDEN in path.read_text()]

    wait_for(lambda: not holding(), 10, "the files to go with the run")


def test_a_single_file_is_at_the_path_itself(rig: LocalRig, tmp_path: Path) -> None:
    needs_mounts(tmp_path)
    files = [{"name": "train.yaml", "content": "lr: 0.1\n"}, {"name": "b", "content": "b"}]
    places = (f"{CONF}/deep/train.yaml", "/trainyard-train.yaml")
    single = [{"files": files, "subPath": "train.yaml", "mountPath": place} for place in places]
    show = f"cat {' '.join(places)}; ls {CONF}/deep; test -f /etc/hostname && echo others"
    change = f"(echo x > {places[0]}) 2>/dev/null || echo unchangeable"
    launched = rig.submit(mounting(rig, f"{show}; {change}", configMapVolume=single))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    said = ["lr: 0.1", "lr: 0.1", "train.yaml", "others", "unchangeable"]
    assert rig.log(launched).splitlines() == said
    assert not Path(places[1]).exists()


def test_a_single_file_is_a_link_where_there_are_no_mounts(
    rig: LocalRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "try_mounts", lambda *_: "not here")
    conf = {"files": [{"name": "a", "content": "hello"}], "subPath": "a", "mountPath": "/etc/a.txt"}
    plan = rig.engine.plan(mounting(rig, "true", configMapVolume=[conf]))
    folder = Folder(tmp_path, "one")
    folder.path.mkdir(parents=True)
    write_files(folder, plan)
    seen = prepare_view(folder, plan.run, plan.ranks[0])
    assert (folder.rank_folder(plan.ranks[0].name) / "etc/a.txt").read_text() == "hello"
    assert Path(seen.variables["VOLUME_ETC_A_TXT"]).read_text() == "hello"


def test_a_second_attempt_has_the_files_too(rig: LocalRig, tmp_path: Path) -> None:
    needs_mounts(tmp_path)
    script = f"cat {KEYS}/cert.pem; cd $CHECKPOINT_DIR; mkdir up$RANK || exit 0; exit 3"
    launched = rig.submit(with_files(rig, script, retries=3))
    ended = rig.over(launched)
    assert ended.phase is Phase.COMPLETED
    assert rig.log(launched, attempt=ended.attempt).startswith("c")


def test_the_files_are_in_no_document_of_a_plan(rig: LocalRig) -> None:
    launched = with_files(rig, "true")
    plan = rig.engine.plan(launched)
    assert HIDDEN not in str(rig.engine.render(launched)) + repr(plan) + str(plan.to_json())
    assert type(plan).from_json(plan.to_json(), plan.secrets) == plan
    assert replace(plan, files={}).lacks_secrets
