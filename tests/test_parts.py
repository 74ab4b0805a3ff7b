"""Parts of the tests are run, run once more in CI, ended, or left out with a reason."""

import sys
from pathlib import Path

import pytest

from tests import parts
from tests.__main__ import HERE, ON_POSTGRES
from tests.parts import Part, beside, exit_code, report
from tests.waiting import wait_for

#: Fails, and leaves a trace of each run.
FAILS = ["-c", "open('runs', 'a').write('x'); raise SystemExit(1)"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("is_ci", "runs"), [(True, "xx"), (False, "x")])
def test_a_part_that_fails_runs_once_more_in_ci(
    monkeypatch: pytest.MonkeyPatch, folder: Path, is_ci: bool, runs: str
) -> None:
    monkeypatch.setattr(parts, "IS_CI", is_ci)
    part = Part("failing", FAILS)
    part.run()
    assert part.code == 1
    assert (folder / "runs").read_text() == runs


def test_a_part_that_takes_too_long_is_ended(capfd: pytest.CaptureFixture[str]) -> None:
    part = Part("endless", ["-c", "import signal; signal.pause()"], limit=0.1)
    part.run()
    assert report([part]) == parts.TOO_LONG
    assert "endless: FAILED" in capfd.readouterr().out


def test_a_part_that_lacks_something_says_so_and_fails_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    part = Part("Slurm", FAILS, missing="there is no Slurm")
    part.run()
    assert report([part]) == 0
    printed = capfd.readouterr().out
    assert "Slurm: DID NOT RUN: there is no Slurm" in printed
    assert "0:00  Slurm: DID NOT RUN" in printed


def test_output_of_a_part_beside_another_is_shown_at_the_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    part = Part("second", ["-c", "print('from beside')"], is_patient=True)
    with beside(part):
        sys.stdout.write("from here\n")
    assert part.code == 0
    printed = capfd.readouterr().out
    assert printed.index("from here") < printed.index("from beside")


def test_parts_beside_another_run_one_after_the_other(folder: Path) -> None:
    first = Part("first", ["-c", "open('runs', 'a').write('1')"])
    second = Part("second", ["-c", "open('runs', 'a').write('2')"])
    with beside(first, second):
        pass
    assert (folder / "runs").read_text() == "12"


def test_parts_beside_one_that_is_interrupted_end_or_never_start(folder: Path) -> None:
    endless = Part("endless", ["-c", "open('runs', 'w').write('1'); import signal; signal.pause()"])

    def interrupt() -> None:
        with beside(endless, Part("second", FAILS)):
            wait_for((folder / "runs").exists, message="the first part to run")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert (folder / "runs").read_text() == "1"


@pytest.mark.parametrize(
    ("codes", "code"), [([0, 0], 0), ([0, -9], -9), ([5, 0], 0), ([5, 5], 5), ([0, 1, 5], 1)]
)
def test_parts_together_fail_where_one_failed(codes: list[int], code: int) -> None:
    assert exit_code(codes) == code


def test_what_runs_on_postgresql_is_there() -> None:
    assert [path for path in ON_POSTGRES if not (HERE / path).exists()] == []
