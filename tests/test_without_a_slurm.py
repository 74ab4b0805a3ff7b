"""``make test-slurm`` where no testbed is there tests nothing, says so, and fails nobody."""

import sys
from pathlib import Path

import pytest

from tests import slurm


def test_make_test_slurm_says_why_nothing_was_tested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(slurm, "TOOL", tmp_path / "none")
    monkeypatch.setattr(sys, "argv", ["slurm"])
    assert slurm.main() == 0
    assert "nothing was tested" in capsys.readouterr().err
