"""``make test-slurm`` where no testbed is there tests nothing, says so, and fails nobody."""

import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests import slurm, slurm_testbed
from tests.__main__ import marked


def test_make_test_slurm_says_why_nothing_was_tested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(slurm, "TOOL", tmp_path / "none")
    monkeypatch.setattr(sys, "argv", ["slurm"])
    assert slurm.main() == 0
    assert "nothing was tested" in capsys.readouterr().err
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    broken.chmod(0o755)
    for module in (slurm, slurm_testbed):
        monkeypatch.setattr(module, "TOOL", broken)
    assert slurm.main() == 0
    assert "DID NOT RUN: `slurm install` failed: no room" in capsys.readouterr().err


def test_make_test_slurm_knows_where_its_tests_are() -> None:
    places = [str(ROOT / place) for place in (slurm.ENGINE, slurm.CORPUS, slurm.BROWSER)]
    assert [it for it in marked("slurm") if not it.startswith(tuple(places))] == []
    assert set(slurm.WITH_BROWSER) <= {str(Path(it).relative_to(ROOT)) for it in marked("slurm")}
