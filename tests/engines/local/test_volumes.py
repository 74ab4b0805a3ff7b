"""Volumes on this machine: what a rank sees at their paths, and what stays of them."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engines.shared import mounts
from spec.phases import Phase, RankPhase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.gangs import started_gang
from tests.engines.local.volumes import allow, mounting, needs_mounts
from tests.engines.terminal import opened, until_end
from tests.waiting import wait_for

CLAIM = {"path": "/trainyard-claim", "existingPvc": True, "claimName": "digits"}
NEW = {"path": "/trainyard-new", "claimInfo": {"size": "1G"}}


@pytest.fixture(autouse=True)
def _mounts(tmp_path: Path) -> None:
    needs_mounts(tmp_path)


def test_a_claim_is_kept_for_the_next_workload_that_names_it(rig: LocalRig) -> None:
    first = rig.submit(mounting(rig, "echo 7 > /trainyard-claim/seven", pvc=[CLAIM]))
    assert rig.over(first).phase is Phase.COMPLETED, rig.log(first)
    rig.engine.delete(first.handle)
    second = rig.submit(mounting(rig, "cat /trainyard-claim/seven", pvc=[CLAIM]))
    rig.over(second)
    assert rig.log(second) == "7\n"
    assert (rig.home / "claims/team-a/digits/seven").read_text() == "7\n"
    assert not Path("/trainyard-claim").exists()
    assert rig.ranks(second)[0].message == "Mounted for this rank alone: /trainyard-claim."


def test_a_new_claim_outlives_a_run_and_an_ephemeral_one_does_not(rig: LocalRig) -> None:
    storage = [NEW, {**NEW, "path": "/trainyard-brief", "ephemeral": True}]
    script = "touch /trainyard-new/x /trainyard-brief/x; ls $VOLUME_TRAINYARD_NEW"
    launched = rig.submit(mounting(rig, script, pvc=storage))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched)
    folder = rig.folder(launched).path
    assert [path.parent.parent.name for path in folder.rglob("x")] == ["claims"]
    rig.engine.delete(launched.handle)
    assert not folder.exists()


def test_a_folder_that_administrators_allow_is_read_only_when_asked(
    rig: LocalRig, tmp_path: Path
) -> None:
    allow(rig, str(tmp_path / "sets"))
    (tmp_path / "sets/digits").mkdir(parents=True)
    (tmp_path / "sets/digits/one").write_text("1")
    mount_path = tmp_path / "mounted/digits"
    host = {"path": str(tmp_path / "sets/digits"), "mountPath": str(mount_path)}
    script = f"cat {mount_path}/one; touch {mount_path}/two"
    launched = rig.submit(mounting(rig, script, hostPath=[host]))
    assert rig.over(launched).phase is Phase.FAILED
    assert rig.log(launched).startswith("1")
    assert "Read-only file system" in rig.log(launched)
    writing = rig.submit(mounting(rig, script, hostPath=[{**host, "readOnly": False}]))
    assert rig.over(writing).phase is Phase.COMPLETED
    assert (tmp_path / "sets/digits/two").exists()


def test_a_share_is_where_the_machine_has_it(rig: LocalRig, tmp_path: Path) -> None:
    allow(rig, f"nas:/export={tmp_path / 'nas'}")
    (tmp_path / "nas/team").mkdir(parents=True)
    (tmp_path / "nas/team/one").write_text("1")
    share = {"server": "nas", "path": "/export/team", "mountPath": "/trainyard-nas"}
    launched = rig.submit(mounting(rig, "cat /trainyard-nas/one", nfs=[share]))
    rig.over(launched)
    assert rig.log(launched) == "1"


def test_empty_directories_on_disk_and_in_memory(rig: LocalRig) -> None:
    empty = [
        {"path": "/trainyard-a"},
        {"path": "/trainyard-a/b", "medium": "Memory", "sizeLimit": "1M"},
    ]
    script = "touch /trainyard-a/x; df --output=fstype,size /trainyard-a/b; ls /trainyard-a"
    launched = rig.submit(mounting(rig, script, emptyDirVolume=empty))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched)
    output = rig.log(launched).split()
    assert "tmpfs" in output
    assert output[-2:] == ["b", "x"]
    assert not (rig.folder(launched).run_folder(1) / "volumes").exists()


def test_the_program_and_its_working_directory_may_be_in_a_volume(rig: LocalRig) -> None:
    folder = rig.home / "claims/team-a/digits/code"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("print('from the claim')")
    launched = mounting(rig, "true", pvc=[CLAIM])
    worker = launched.spec.worker.model_copy(
        update={
            "command": f"{sys.executable} train.py",
            "args": None,
            "working_dir": "/trainyard-claim/code",
        }
    )
    spec = launched.spec.model_copy(update={"worker": worker})
    launched = rig.submit(replace(launched, spec=spec))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    assert rig.log(launched) == "from the claim\n"


def test_a_working_directory_that_is_not_in_its_volume_is_named(rig: LocalRig) -> None:
    launched = mounting(rig, "true", pvc=[CLAIM])
    worker = launched.spec.worker.model_copy(update={"working_dir": "/trainyard-claim/none"})
    spec = launched.spec.model_copy(update={"worker": worker})
    launched = rig.submit(replace(launched, spec=spec))
    assert "/trainyard-claim/none: No such file" in rig.over(launched).message


def test_a_terminal_sees_the_volumes_of_its_rank(rig: LocalRig) -> None:
    launched = rig.submit(mounting(rig, "cd /trainyard-claim; touch here; sleep 60", pvc=[CLAIM]))
    written_file = rig.home / "claims/team-a/digits/here"
    wait_for(written_file.exists, 20, "the rank to write")
    wait_for(
        lambda: {it.phase for it in rig.ranks(launched)} == {RankPhase.RUNNING}, 20, "its record"
    )
    with opened(rig, launched, "pwd; ls") as session:
        assert until_end(session).split() == [b"/trainyard-claim", b"here"]


def test_without_mounts_volumes_are_links_and_variables(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "try_mounts", lambda bindings, scratch: "Operation not permitted")
    script = "touch trainyard-claim/a $VOLUME_TRAINYARD_CLAIM/b; sleep 60"
    with started_gang(rig, mounting(rig, script, pvc=[{**CLAIM, "readOnly": True}])) as (gang, _):
        claim_folder = rig.home / "claims/team-a/digits"
        wait_for(lambda: {it.name for it in claim_folder.glob("*")} == {"a", "b"}, 20, "both files")
        output = gang.members[0].record.message
    assert output.startswith("Linked in the rank's own folder")
    assert "Operation not permitted" in output
    assert output.endswith("Read only is not enforced.")


def test_a_workload_with_a_volume_over_its_size_is_stopped(rig: LocalRig) -> None:
    volume = {"path": "/trainyard-new", "claimInfo": {"size": "1M"}}
    grow = "head -c 500000 /dev/zero >> /trainyard-new/$(date +%N)"
    script = f"[ $(ls /trainyard-new | wc -l) -gt 2 ] && sleep 60; {grow}; {grow}; {grow}; exit 1"
    launched = rig.submit(mounting(rig, script, retries=1, pvc=[volume]))
    ended = rig.over(launched)
    assert ended.phase is Phase.STOPPED
    assert re.search(r"/trainyard-new holds 1\.\d+ MB, more than its size of 1 MB", ended.message)


def test_a_named_claim_has_the_size_of_its_data_source(rig: LocalRig) -> None:
    new = {"path": "/trainyard-new", "claimName": "shared", "claimInfo": {"size": "1M"}}
    made = rig.submit(mounting(rig, "echo kept > /trainyard-new/file", pvc=[new]))
    assert rig.over(made).phase is Phase.COMPLETED, rig.over(made).message
    rig.engine.delete(made.handle)
    claim = {"path": "/trainyard-old", "claimName": "shared", "existingPvc": True}
    grow = "cat /trainyard-old/file; head -c 1500000 /dev/zero > /trainyard-old/more; sleep 60"
    launched = rig.submit(mounting(rig, grow, pvc=[claim]))
    message = re.compile(r".* /trainyard-old holds .* of 1 MB\.$")
    wait_for(lambda: any(message.match(it.message) for it in rig.ranks(launched)), 20, "the size")
    assert rig.log(launched) == "kept\n"
    larger = {**new, "claimInfo": {"size": "2M"}}
    again = rig.submit(mounting(rig, "sleep 60", pvc=[larger]))
    wider = re.compile(r".* /trainyard-new holds .* of 2 MB\.$")
    wait_for(lambda: any(wider.match(it.message) for it in rig.ranks(again)), 20, "the larger one")


def test_the_page_shows_how_full_a_volume_is(rig: LocalRig) -> None:
    launched = rig.submit(mounting(rig, "sleep 60", pvc=[NEW]))
    message = re.compile(r"^Mounted for .*: /trainyard-new\. /trainyard-new holds .* of 1 GB\.$")
    wait_for(lambda: any(message.match(it.message) for it in rig.ranks(launched)), 20, "the size")
