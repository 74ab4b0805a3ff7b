"""The shell of a terminal has the rank's own programs, whatever the start-up file says."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.local.terminal import LocalSession
from workloads.terminal.shell import SHELL


def program(folder: Path, name: str, says: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LocalSession]:
    """In the home of somebody whose start-up file puts other programs first, as pyenv does."""
    rank = tmp_path / "the rank's" / "bin"
    shims = tmp_path / "shims"
    program(rank, "python", "python-of-the-rank")
    program(shims, "python", "python-of-the-user")
    startup = f"export PATH={shims}:$PATH PYTHONPATH=/elsewhere\nalias python={shims}/python\n"
    (tmp_path / ".bashrc").write_text(startup + "alias greet='echo hel''lo'\n")
    variables = {"PATH": f"{rank}:/usr/bin:/bin", "HOME": str(tmp_path)}
    session = LocalSession(SHELL, folder=str(tmp_path), variables=variables, mark=4096)
    session.stream.settimeout(20)
    yield session
    session.close()


def until_end(stream: socket.socket) -> str:
    pieces = []
    while piece := stream.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces).decode()


def test_python_in_a_terminal_is_the_ranks_own(session: LocalSession) -> None:
    session.stream.sendall(b"python; echo path=[$PYTHONPATH]; greet; exit 0\n")
    shown = until_end(session.stream)
    assert "python-of-the-rank\r\n" in shown
    assert "python-of-the-user" not in shown.replace("shims", "")
    assert "path=[]\r\n" in shown
    assert "hello\r\n" in shown, "the start-up file is read all the same"
    assert session.exit_code == 0
