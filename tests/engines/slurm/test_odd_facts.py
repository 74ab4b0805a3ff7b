"""Where jobs run under people's own names, no nonsense of theirs ends or burdens the watch."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engines.base import EngineUnavailable
from engines.slurm.client import files
from engines.slurm.client.transport import (
    TIMEOUT,
    CommandResult,
    LocalTransport,
    SlurmPrograms,
)
from engines.slurm.layout import SharedFolder, job_name
from engines.slurm.logs import LogReader
from engines.slurm.queue.commands import sacct, squeue
from engines.slurm.queue.jobs import BETWEEN
from engines.slurm.queue.reader import QueueReader
from engines.slurm.status.facts import launch_line
from engines.slurm.watch.history import JobHistory
from engines.slurm.watch.poll import FAR_BACK, Looker
from engines.slurm.watch.watcher import QueueWatcher
from tests.engines.slurm import cases
from tests.engines.slurm.people import relative, shared
from tests.engines.slurm.watched import Counting

HERE = LocalTransport()
FIRST = datetime(1971, 1, 1, tzinfo=UTC)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return shared(tmp_path)


def test_a_run_with_an_old_date_does_not_search_all_accounting(place: Path) -> None:
    (place / relative() / "launch").write_text(launch_line(cases.single(), FIRST))
    (place / relative() / "job").write_text("52\n")
    login = Counting(HERE)
    now = datetime.now(UTC)
    looker = Looker(login, str(place), QueueReader(login, 1.0, str(place)))
    (shown,) = looker.some([cases.UID], [])
    assert shown.facts.created == FIRST
    looker.some([cases.UID], [])  # missing once more
    (asked,) = [line for line in login.asked if "sacct" in line]
    since = datetime.fromisoformat(asked.partition("--starttime=")[2].split()[0])
    assert now - since.replace(tzinfo=UTC) < FAR_BACK + timedelta(minutes=10)


def test_a_job_counts_only_where_the_workload_is_its_users(place: Path, tmp_path: Path) -> None:
    owner = str(place.stat().st_uid)
    name = job_name(cases.UID, 1)
    rows = [
        BETWEEN.join(("$mark", number, name, "RUNNING", *["N/A"] * 3, "n1", user, "None"))
        for number, user in (("7", owner), ("8", "4242"))
    ]
    program = tmp_path / "squeue"
    mark = f"mark=$(echo \"$*\" | sed 's/.*--format=//; s/{BETWEEN}.*//')"
    program.write_text("\n".join(("#!/bin/sh", mark, "cat <<END", *rows, "END", "")))
    program.chmod(0o755)
    (place / "workloads" / f"x\n{cases.UID.hex} 4242").mkdir()
    here = LocalTransport(SlurmPrograms(folder=str(tmp_path)))
    assert [job.id for job in squeue(here, owners_in=str(place))] == ["7"]


def test_a_directory_that_is_away_is_no_empty_queue(place: Path) -> None:
    (place / "workloads").rename(place / "away")
    with pytest.raises(EngineUnavailable, match=r"squeue: .*workloads"):
        squeue(HERE, owners_in=str(place))
    with pytest.raises(EngineUnavailable, match=r"sacct: .*workloads"):
        sacct(HERE, [job_name(cases.UID, 1)], since=FIRST, owners_in=str(place))
    (place / "workloads").mkdir()
    assert squeue(HERE, owners_in=str(place)) == []


def test_names_that_are_none_of_ours_are_left_alone(place: Path) -> None:
    strange = "not-the-name-of-a-workload-12345"
    assert len(strange) == len(cases.UID.hex)
    (place / "changed" / strange).touch()
    (place / "changed" / cases.UID.hex).touch()
    for number in ("one", "0", "-1", "99999", "1/../../2"):
        folder = place / "workloads" / strange
        folder.mkdir(exist_ok=True)
        (folder / "run").write_text(f"{number}\n")
        (place / SharedFolder("", cases.UID).relative / "run").write_text(f"{number}\n")
        assert files.latest_runs(HERE, str(place), of_people=True) == []
    looker = Looker(HERE, str(place), QueueReader(HERE, 1.0, str(place)))
    assert set(looker.bells().rung) == looker.bells().there == {cases.UID}
    (place / relative() / "attempt-0/rank-x.log").touch()
    logs = LogReader(HERE, str(place)).logs(SharedFolder(str(place), cases.UID), 1)
    assert [log.rank for log in logs] == [0]


class Broken:
    """A login node whose answers nobody expected."""

    host = "broken"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        raise ValueError("what is this?")

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return [*argv]

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


def test_a_watch_that_cannot_go_on_says_so_and_is_not_silent() -> None:
    looker = Looker(Broken(), "/shared", QueueReader(Broken(), 0.1))
    watch = QueueWatcher(looker, JobHistory(Broken())).watch()
    with pytest.raises(ValueError, match="what is this"):
        next(watch)
