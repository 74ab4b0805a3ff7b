"""Sites that say less or refuse more, and a shared directory that is full or read-only."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import EngineRefused, EngineUnavailable, Observation
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.queue.commands import squeue
from spec.phases import Phase
from tests.engines.reading import printed
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.engines.slurm.watched import WatchedSite
from tests.slurm_testbed import Testbed, as_root, machines, run
from tests.waiting import wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("watched")]
USUAL = {
    "PrivateData": "none",
    "EnforcePartLimits": "NO",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "associations,limits,qos",
    "AccountingStorageTRES": "gres/gpu",
}
STRICT = {
    "PrivateData": "jobs",
    "EnforcePartLimits": "ALL",
    "AccountingStorageType": "accounting_storage/none",
    "AccountingStorageEnforce": "nosteps",
    "AccountingStorageTRES": "cpu",
}
FILL = 'cat /dev/zero > "$0/filler"; while head -c 1024 /dev/zero >> "$0/filler"; do :; done'
SMALL = Path("/tmp/trainyard-small.img")
OTHERS = """
sbatch --hold --array=0-999 --job-name=sweep --wrap=true
sbatch --hold --ntasks=1 : --ntasks=2 --wrap=true
"""


def set_up(settings: dict[str, str]) -> None:
    run("up", *(word for it in settings.items() for word in ("--set", "=".join(it))))


@pytest.fixture(scope="module")
def strict(testbed: Testbed) -> Iterator[None]:
    """Nobody sees other people's jobs, limits are enforced at once, ended jobs are not kept."""
    set_up(STRICT)
    yield
    set_up(USUAL)


@pytest.fixture
def other_jobs(rig: SlurmRig) -> Iterator[None]:
    """A thousand jobs of somebody else are in the queue, an array and a heterogeneous one."""
    run("as", "alice", "sh", "-c", OTHERS)
    yield
    run("as", "alice", "scancel", "--user=alice")


@pytest.mark.usefixtures("strict")
def test_a_site_with_private_jobs_shows_ours_to_their_end(rig: SlurmRig, pages: Pages) -> None:
    launched = rig.submit(rig.prints())
    assert rig.over(launched).phase is Phase.COMPLETED
    assert printed(rig.engine, launched, 1) == b"hello\n"
    failed = rig.submit(rig.fails())
    assert rig.over(failed).message == "worker-0 (rank 1) exited with code 3."
    assert "worker-0 (rank 1) exited with code 3." in pages.text(failed)
    said = pages.of_cluster()
    assert "Slurm keeps no ended jobs here" in said
    assert "ALL: Slurm refuses jobs" in said


@pytest.mark.usefixtures("strict")
def test_a_site_that_enforces_limits_refuses_by_the_field(rig: SlurmRig, pages: Pages) -> None:
    launched = rig.shell("true", time_limit_seconds=3 * 24 * 3600)
    with pytest.raises(EngineRefused) as refusal:
        rig.engine.submit(launched)
    assert refusal.value.field == "timeLimitSeconds"
    assert rig.engine.observe(launched.handle) is None
    pages.hand_over(launched)
    assert "Requested time limit is invalid" in pages.text(launched)


@pytest.mark.usefixtures("other_jobs")
def test_a_thousand_jobs_of_other_people_are_neither_seen_nor_asked_for(
    rig: SlurmRig, watched: WatchedSite, pages: Pages
) -> None:
    began = time.monotonic()
    before = polls()
    rig.submit(launched := rig.shell("sleep 2; echo hello"))
    watched.seen(launched, Phase.COMPLETED)
    assert 1 <= polls() - before <= (time.monotonic() - began) / 5 + 1
    assert not any(watched.transport.count(it) for it in ("sinfo", "scontrol"))
    accounting = [line for line in watched.transport.asked if line.startswith("sacct")]
    assert all("--json" in line and re.search(r" --jobs=\d+ ", line) for line in accounting)
    assert [it.name for it in squeue(rig.transport) if "sweep" in it.name] == []
    assert printed(rig.engine, launched) == b"hello\n"
    assert "Completed" in pages.text(launched)


def polls() -> int:
    """How often slurmctld was asked for the queue, as it counts itself."""
    said = run("as", "alice", "sdiag").stdout
    counts = re.findall(r"\bREQUEST_JOB_(?:USER_)?INFO\s*\([^)]*\)\s*count:(\d+)", said)
    return sum(int(count) for count in counts)


@contextmanager
def small_disk(testbed: Testbed, folder: str) -> Iterator[Path]:
    """A directory of 2 MB that login node and nodes share."""
    image = SMALL
    there = Path(folder)
    there.mkdir(parents=True, exist_ok=True)
    image.write_bytes(bytes(2 * 1024**2))
    shell("mkfs.ext2", "-q", "-N", "512", str(image))
    device = shell("losetup", "--find", "--show", str(image)).strip()
    try:
        for pid in machines().values():
            as_root(pid, "mount", device, folder)
        as_root(pid, "chmod", "777", folder)
        yield there
    finally:
        for pid in machines().values():
            with suppress(subprocess.CalledProcessError):  # where it was not mounted
                as_root(pid, "umount", "--lazy", folder)
        shell("losetup", "--detach", device, check=False)
        image.unlink()
        there.rmdir()


def test_a_full_or_read_only_directory_is_reported_without_losses(
    rig: SlurmRig, pages: Pages
) -> None:
    folder = f"{rig.site.directory}-small"
    with small_disk(rig.testbed, folder):
        engine = rig.engine = SlurmEngine(rig.transport, replace(rig.site, directory=folder))
        fill = rig.transport.run(["sh", "-c", FILL, folder])
        assert "No space left" in fill.message
        launched = rig.prints()
        pages.hand_over(launched)
        assert "No space left" in pages.text(launched)
        assert squeue(rig.transport, names=[job_name(launched.handle.workload_id, 1)]) == []
        rig.transport.run(["rm", f"{folder}/filler"])
        rig.submit(launched)
        assert rig.over(launched).phase is Phase.COMPLETED
        remounted(rig.testbed, folder, "ro")
        refused = rig.prints()
        pages.hand_over(refused)
        assert "Read-only" in pages.text(refused)
        assert any("Read-only" in it.text for it in engine.check())
        assert rig.over(launched).phase is Phase.COMPLETED
        remounted(rig.testbed, folder, "rw")
        assert rig.over(rig.submit(refused)).phase is Phase.COMPLETED


def test_a_directory_that_is_away_loses_no_workload_and_no_line(rig: SlurmRig) -> None:
    folder = f"{rig.site.directory}-away"
    with small_disk(rig.testbed, folder) as there:
        rig.engine = SlurmEngine(rig.transport, replace(rig.site, directory=folder), interval=0.5)
        script = "echo first; until [ -e $CHECKPOINT_DIR/go ]; do sleep 0.1; done; echo second"
        launched = rig.submit(rig.shell(script))
        rig.seen(launched, Phase.RUNNING)
        logs = [one for one in rig.engine.logs(launched.handle, run=1) if one.rank == 0]
        watch = rig.engine.watch()
        wait_for(lambda: next(watch) is not None, 30, "it to be listed")
        login = machines()["login"]
        device = shell("losetup", "--associated", str(SMALL)).partition(":")[0]
        as_root(login, "umount", "--lazy", folder)
        try:
            with pytest.raises(EngineUnavailable, match="mounted on the login node"):
                wait_for(lambda: _is_gone(next(watch)), 30, "it to be said")
            for ask in (
                lambda: next(rig.engine.watch()),
                lambda: rig.engine.observe(launched.handle),
                lambda: rig.engine.logs(launched.handle, run=1),
                lambda: rig.engine.read_log(
                    launched.handle, logs[0], offset=6, cursor="6", limit=100
                ),
            ):
                with pytest.raises(EngineUnavailable):
                    ask()
        finally:
            as_root(login, "mount", device, folder)
        checkpoints = f"{folder}/workloads/{launched.handle.workload_id.hex}/checkpoints"
        rig.transport.run(["touch", f"{checkpoints}/go"])
        assert rig.over(launched).phase is Phase.COMPLETED
        assert printed(rig.engine, launched) == b"first\nsecond\n"
        assert there.exists()


def _is_gone(told: Observation | None) -> bool:
    assert told is None or told.phase is not None, "it was told to be gone"
    return False


def remounted(testbed: Testbed, folder: str, mode: str) -> None:
    for pid in machines().values():
        as_root(pid, "mount", "-o", f"remount,{mode}", folder)


def shell(*words: str, check: bool = True) -> str:
    return subprocess.run(words, check=check, capture_output=True, text=True).stdout
