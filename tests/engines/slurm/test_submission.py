"""A run is handed to Slurm again after a try whose end nobody heard of. The programs of Slurm are
scripts here: real ones refuse at a moment that no test can choose."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engines.slurm.client.transport import LocalTransport, SlurmPrograms
from engines.slurm.engine import SlurmEngine
from engines.slurm.layout import job_name
from engines.slurm.script.site import SlurmSite
from engines.slurm.status.facts import launch_line
from tests.engines.slurm import cases, people

NAME = job_name(cases.UID, 1)
TIMES = "2026-11-26T10:00:00|2026-11-26T10:00:00|2026-11-26T10:00:00"
#: Prints its line with the mark in the requested format.
SQUEUE = r"""printf '%s\n' "$@" | sed -n 's/^--format=\(.*\)\x1f%i.*/\1\x1f{line}/p'"""


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The queue and accounting are empty; a job that is handed over becomes number 52."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("squeue", ""), ("sacct", ""), ("sbatch", "echo 52")):
        program(folder / name, text)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Its folder after a try ten minutes ago, without the number of a job."""
    folder = people.written(tmp_path / "shared", cases.UID)
    (folder / "claim").unlink()
    (folder / "attempt").unlink()
    created = datetime.now(UTC) - timedelta(minutes=10)
    (folder / "launch").write_text(f"{launch_line(cases.single(), created)}\n")
    return folder


def submit(programs: Path, directory: Path) -> None:
    transport = LocalTransport(SlurmPrograms(folder=str(programs)))
    SlurmEngine(transport, SlurmSite(str(directory)), interval=0.5).submit(cases.single())


@pytest.mark.parametrize("nodes", ["None assigned", ""])
@pytest.mark.parametrize("shown_by", ["squeue", "sacct"])
def test_a_refused_submission_is_not_the_job_of_the_run(
    programs: Path, run: Path, tmp_path: Path, shown_by: str, nodes: str
) -> None:
    """It failed without a node; the run would fail by it, and not be tried again."""
    row = f"51|{NAME}|FAILED|{TIMES}|{nodes}|1001|1:0|None"
    queued = f"51|{NAME}|FAILED|{TIMES}|{nodes}|1001|None".replace("|", r"\x1f")
    text = f"echo '{row}'" if shown_by == "sacct" else SQUEUE.format(line=queued)
    program(programs / shown_by, text)
    submit(programs, tmp_path / "shared")
    assert (run / "job").read_text() == "52\n"


@pytest.mark.parametrize(("state", "nodes"), [("FAILED", "n1"), ("PENDING", "None assigned")])
def test_a_submission_without_an_answer_finds_its_job(
    programs: Path, run: Path, tmp_path: Path, state: str, nodes: str
) -> None:
    row = f"51|{NAME}|{state}|{TIMES}|{nodes}|1001|0:0|None"
    program(programs / "sacct", f"echo '{row}'")
    submit(programs, tmp_path / "shared")
    assert (run / "job").read_text() == "51\n"
