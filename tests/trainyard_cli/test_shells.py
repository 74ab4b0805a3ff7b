"""Completion in the shells themselves: set up as the documents say, and asked for with Tab."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from config.run.install import ROOT

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
#: What a terminal is told besides its text.
PAINT = re.compile(r"\x1b\[[\d;]*[A-Za-z]|[\x00\x0f]")
PATIENCE = 30.0


@dataclass
class ShellTerminal:
    """What a shell that runs in it shows."""

    handle: int
    shown: str = field(default="")

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def wait_for(self, *texts: str) -> str:
        """Until each is shown; what was shown meanwhile."""
        ends, begin = time.monotonic() + PATIENCE, len(self.shown)
        while not all(it in PAINT.sub("", self.shown[begin:]) for it in texts):
            if not select.select([self.handle], [], [], max(ends - time.monotonic(), 0))[0]:
                pytest.fail(f"{texts} was not shown: {self.shown[begin:]!r}")
            self.shown += os.read(self.handle, 65536).decode(errors="replace")
        return self.shown[begin:]


@contextmanager
def opened(argv: list[str], environment: dict[str, str]) -> Iterator[ShellTerminal]:
    pid, handle = pty.fork()
    if not pid:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 -- a shell is what is tested
    try:
        yield ShellTerminal(handle)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(handle)


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
