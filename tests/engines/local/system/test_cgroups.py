"""Control groups of both versions: where they are made, and that a rank is in them from birth."""

from pathlib import Path

import psutil
import pytest

from engines.local.supervisor.spawning import spawn
from engines.local.system import cgroups, marks
from engines.local.system.cgroups import Cgroup
from engines.local.volumes.view import View

LISTING = ["/bin/sh", "-c", "/bin/cat /proc/self/cgroup"]


def listed(cgroup: Cgroup, folder: Path) -> tuple[str, Cgroup]:
    """What a child of a rank's first process says of its groups, and which the rank is in."""
    log = folder / "log"
    with log.open("wb") as output:
        mark = marks.mark_for(folder, 0)
        process, held = spawn(
            LISTING, variables={}, view=View(folder), output=output, cgroup=cgroup, mark=mark
        )
    assert process.wait(10) == 0
    return log.read_text(), held


def mount_of(version: str) -> Path:
    """Where control groups of a version are mounted."""
    for mount in psutil.disk_partitions(all=True):
        if mount.fstype == version and (version == "cgroup2" or "memory" in mount.opts.split(",")):
            return Path(mount.mountpoint)
    pytest.skip(f"{version} is not mounted here")


@pytest.mark.parametrize("version", ["cgroup", "cgroup2"])
def test_a_rank_is_in_its_group_before_its_program_starts(version: str, tmp_path: Path) -> None:
    folder = mount_of(version) / "trainyard-test-0-0"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group may be made here: {error}")
    try:
        said, held = listed(Cgroup(folder, None), tmp_path)
    finally:
        folder.rmdir()
    assert held.memory == folder
    assert "/trainyard-test-0-0\n" in said


def test_version_1_groups_are_made_below_our_own(tmp_path: Path) -> None:
    cgroup = cgroups.create("test-0-0", cpu=0.5, memory=100_000_000)
    if not (cgroup.cpu and cgroup.memory):
        pytest.skip("no control group may be made here")
    said, held = listed(cgroup, tmp_path)
    held.remove()
    assert held == cgroup
    for folder in cgroup.folders:
        assert f"/{folder.name}\n" in said
        assert not folder.exists()


def test_a_group_that_lets_nobody_in_is_not_held_and_goes(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    closed = tmp_path / "closed"
    for folder in (open_to_all, closed):
        folder.mkdir()
    (open_to_all / "cgroup.procs").write_text("")
    closed.chmod(0o700)
    missing = closed / "cgroup.procs" / "nowhere"
    _, held = listed(Cgroup(missing, open_to_all), tmp_path)
    assert held == Cgroup(None, open_to_all)
    assert (open_to_all / "cgroup.procs").read_text() == "0"


def test_version_2_groups_are_made_below_who_hands_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    (tmp_path / "slice/unit").mkdir(parents=True)
    (tmp_path / "slice/cgroup.subtree_control").write_text("cpu memory")
    (tmp_path / "slice/unit/cgroup.subtree_control").write_text("")
    own = tmp_path / "own"
    own.write_text("0::/slice/unit\n")
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "OWN_GROUPS", own)
    made = cgroups.create("w-1-0", cpu=0.5, memory=1000)
    assert made.folders == [tmp_path / "slice/trainyard-w-1-0"]
    assert (made.folders[0] / "cpu.max").read_text() == "50000 100000"
    assert (made.folders[0] / "memory.max").read_text() == "1000"
    assert (made.folders[0] / "memory.oom.group").read_text() == "1"
    assert not made.ran_out_of_memory()
    (made.folders[0] / "memory.events").write_text("oom 1\noom_kill 1\n")
    assert made.ran_out_of_memory()


def test_there_is_no_cgroup_where_none_can_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "OWN_GROUPS", tmp_path / "absent")
    assert cgroups.create("w-1-0", cpu=1, memory=1000).folders == []
