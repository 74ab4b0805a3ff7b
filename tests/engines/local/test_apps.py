"""Programs that are installed on first use: once, and with advice where there is no index."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.local.apps.__main__ import command_line
from engines.local.apps.board import guard_hosts
from engines.local.apps.catalog import JUPYTERLAB, TENSORBOARD, parse_command
from engines.local.apps.hosts import ToolHosts
from engines.local.system.inherited import ROOT
from tests.engines.local.index import only, stand_in


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return stand_in(tmp_path / "index")


def started(home: Path, index: Path, *given: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "engines.local.apps", "jupyterlab", str(home), "localhost", *given],
        cwd=ROOT,
        env=os.environ | only(index),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_two_that_start_at_a_time_install_once_and_see_our_packages(
    tmp_path: Path, index: Path
) -> None:
    home = tmp_path / "apps"
    both = [started(home, index, "start-notebook.py", "--token=") for _ in range(2)]
    printed = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    assert sum("Installing JupyterLab" in text for text in printed) == 1
    for text in printed:
        line = text.splitlines()[-1]
        assert line.startswith("started --no-browser")
        assert line.endswith("--ServerApp.port=8888 --token=")


def test_where_no_index_is_reached_the_advice_installs_it_by_hand(
    tmp_path: Path, index: Path
) -> None:
    home = tmp_path / "our apps"
    process = started(home, tmp_path)
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 69
    assert "JupyterLab could not be installed" in text
    advice = text.partition("run this where one is reached: ")[2].partition("\n")[0]
    assert f"-m pip --python '{home}/jupyterlab/bin/python' install" in advice
    reached = os.environ | only(index)
    subprocess.run(["/bin/sh", "-c", advice], env=reached, check=True, timeout=120)
    text = started(home, tmp_path, "--token=").communicate(timeout=120)[0]
    assert text.splitlines()[-1].startswith("started --no-browser")


def test_a_notebook_answers_to_the_names_of_its_workloads_tools_alone() -> None:
    hosts = ToolHosts("8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10", "tools.example.com")
    assert "lab-8f14e45fceea467fa8b25f8d3c1c9e10.tools.example.com" in hosts
    assert "localhost" in hosts
    for stranger in (
        "evil.example.com",
        "tools.example.com",
        "lab-00000000000000000000000000000000.tools.example.com",
        "lab-8f14e45fceea467fa8b25f8d3c1c9e10.tools.example.com.evil.org",
    ):
        assert stranger not in hosts


def test_the_arguments_may_name_another_program_of_the_image() -> None:
    lab = parse_command(["jupyterlab", "/apps", "localhost", "start-notebook.py", "--x"])
    assert (lab.app, lab.arguments) == (JUPYTERLAB, ("--x",))
    board = parse_command(["jupyterlab", "/apps", "localhost", "tensorboard", "--logdir=/logs"])
    assert (board.app, board.arguments) == (TENSORBOARD, ("--logdir=/logs",))
    assert board.folder == Path("/apps/tensorboard")
    assert parse_command(["jupyterlab", "/apps", "localhost"]).app is JUPYTERLAB


def test_a_board_answers_to_the_names_of_its_workloads_tools_alone() -> None:
    said: list[str] = []
    served = guard_hosts(lambda request, start: [b"board"], ToolHosts("8f14", "localhost"))

    def answer(host: str) -> bytes:
        return b"".join(served({"HTTP_HOST": host}, lambda status, headers: said.append(status)))

    assert answer("board-8f14.localhost:8000") == answer("localhost:6006") == b"board"
    assert b"not an address" in answer("evil.example.com:6006")
    assert b"not an address" in answer("")
    assert said == ["403 Forbidden"] * 2


def test_a_framework_is_told_its_arguments_and_no_port() -> None:
    words = ["xgboost", "/apps", "localhost", "--n_estimators=9"]
    started = command_line(parse_command(words), {"PORT_8888": "20001"})
    python = "/apps/xgboost/bin/python"
    assert started == [python, "-m", "trainer.examples", "xgboost", "--n_estimators=9"]
    lab = command_line(parse_command(["jupyterlab", "/apps", "localhost"]), {"PORT_8888": "20001"})
    assert lab[-1] == "--ServerApp.port=20001"
