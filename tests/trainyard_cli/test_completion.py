"""What shells complete: the program is asked as each of them asks it."""

import os
import subprocess
import sys

import pytest

LINE = "trainyard training pytorch su"
ASKED = {
    "bash": {"COMP_WORDS": LINE, "COMP_CWORD": "3"},
    "zsh": {"_TYPER_COMPLETE_ARGS": LINE},
    "fish": {"_TYPER_COMPLETE_ARGS": LINE, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.mark.parametrize("shell", ASKED)
def test_commands_are_completed(shell: str) -> None:
    asked = {**os.environ, **ASKED[shell], "_TRAINYARD_COMPLETE": f"complete_{shell}"}
    words = [sys.executable, "-m", "trainyard_cli"]
    shown = subprocess.run(words, env=asked, check=False, capture_output=True, text=True).stdout
    assert "submit" in shown
    assert "suspend" in shown
    assert "describe" not in shown
