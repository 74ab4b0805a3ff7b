"""Questions that nobody answers, in a terminal."""

import os
import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.trainyard_cli.shells import opened

CTRL_C = "\x03"
CTRL_D = "\x04"


@pytest.mark.parametrize(
    ("line", "question", "key", "code", "said"),
    [
        ("", "Server [", CTRL_D, 2, "No server was entered; nothing was changed."),
        ("--server S", "User name: ", CTRL_D, 2, "No user name was entered; nothing was changed."),
        ("--server S -u ada", "Password: ", CTRL_D, 2, "No password was entered; nothing was ch"),
        ("--server S -u ada", "Password: ", CTRL_C, 130, ""),
    ],
)
def test_a_question_without_an_answer_ends_with_a_sentence(
    tmp_path: Path, line: str, question: str, key: str, code: int, said: str
) -> None:
    config = tmp_path / "config.json"
    argv = [sys.executable, "-m", "trainyard_cli", "--config-file", str(config), "login", "user"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    with opened([*argv, *line.split()], environment) as terminal:
        terminal.wait_for(question)
        terminal.type(key)
        shown, ended = terminal.end()
    assert ended == code
    assert said in shown
    assert not said or "Pass it" in shown
    assert "Aborted" not in shown
    assert not config.exists()
