"""Completion in the shells themselves: set up as the documents say, and asked for with Tab."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.trainyard_cli.shells import PATIENCE, opened

PROMPT = "READY> "
#: By shell, the file that it reads first, what makes its prompt plain, and how it is started.
SHELLS = {
    "bash": (".bashrc", f"PS1='{PROMPT}'", ["bash", "-i"]),
    "zsh": (".zshrc", f"PROMPT='{PROMPT}'", ["zsh", "-i"]),
    "fish": (
        ".config/fish/config.fish",
        f"function fish_prompt; echo -n '{PROMPT}'; end",
        ["fish"],
    ),
}


@pytest.mark.parametrize("name", SHELLS)
def test_tab_completes_a_command_in_a_shell_that_was_set_up(name: str, tmp_path: Path) -> None:
    if not shutil.which(name):
        pytest.skip(f"there is no {name} on this machine")
    startup, plain_prompt, argv = SHELLS[name]
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "trainyard"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trainyard_cli "$@"\n')
    program.chmod(0o755)
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TERM": "vt100",
    }
    settings = tmp_path / startup
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"{plain_prompt}\n")
    install = [argv[0], "-c", "trainyard --install-completion; true"]
    subprocess.run(install, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    with opened(argv, environment) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("trainyard training pytorch su\t\t")
        offered = terminal.wait_for("submit", "suspend")
    assert "describe" not in offered
