"""Another name starts this program, and takes the place of no other."""

import os
import subprocess
import sys
from pathlib import Path

from config.run.install import ROOT
from tests.trainyard_cli.terminal import Terminal


def test_the_alias_starts_this_program(nobody: Terminal, tmp_path: Path) -> None:
    nobody(f"alias runai --to {tmp_path}")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [tmp_path / "runai", "--version"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("trainyard ")
    assert sys.executable in (tmp_path / "runai").read_text()
    nobody(f"alias runai --to {tmp_path}")
    nobody(f"alias osmo --to {tmp_path}")
    assert (tmp_path / "osmo").read_text() == (tmp_path / "runai").read_text()


def test_a_program_that_is_there_already_stays(nobody: Terminal, tmp_path: Path) -> None:
    (tmp_path / "runai").write_text("#!/bin/sh")
    done = nobody(f"alias runai --to {tmp_path}", code=1)
    assert "was not changed" in done.err
    assert (tmp_path / "runai").read_text() == "#!/bin/sh"
