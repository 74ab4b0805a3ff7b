"""Help and output, word for word. ``WRITE_GOLDEN=1`` writes what there is now, for the diff."""

import os
import re
from pathlib import Path

import pytest

from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.factories import ComputeResourceFactory, EnvironmentFactory, WorkloadFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.app import COMMANDS

FOLDER = Path(__file__).with_name("golden")
FIRST_WORDS = sorted(word for words in COMMANDS.values() for word in words)
#: Below the first word, where there is more than one kind of commands.
DEEPER = (
    *("list jobs", "describe job", "delete job", "project set", "environment list"),
    *("workload list", "workload describe", "workload watch", "workload export", "workload diff"),
    *("training pytorch", "training pytorch submit", "template describe"),
)
#: What differs from one run to the next.
CHANCE = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"), "<id>"),
    (re.compile(r"\b(?:\d+[ms])+\b(?P<pad> ?) *"), r"<age>\g<pad>"),
    (re.compile(r"projectId: '\d+'"), "projectId: <number>"),
    (re.compile(r"http://[\w.]+:\d+"), "<server>"),
    (re.compile(r"/\S+/engine/workloads"), "<home>/workloads"),
    (re.compile(r"(node|NODE_NAME): \S+"), r"\1: <node>"),
    (re.compile(r"Key ends: \S+"), "Key ends: <date>"),
)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of one size, without colors."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")


def compare(name: str, text: str) -> None:
    for pattern, stands in CHANCE:
        text = pattern.sub(stands, text)
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    path = FOLDER / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path.name}; with WRITE_GOLDEN=1 it is written anew"


def test_help_is_as_it_was(tmp_path: Path) -> None:
    terminal = Terminal("", tmp_path / "config.json")
    lines = ["", *FIRST_WORDS, *DEEPER]
    shown = [f"$ trainyard {line} --help\n{terminal(f'{line} --help').out}" for line in lines]
    compare("help", "\n".join(re.sub(r" +--help", " --help", it, count=1) for it in shown))


def test_the_output_of_commands_is_as_it_was(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    made = {"project": project, "created_by": researcher}
    running = WorkloadFactory(name="mnist", running=True, **made)
    running.ranks.update(node="node-1", phase=Phase.RUNNING)
    WorkloadFactory(name="nightly", failed=True, **made)
    EnvironmentFactory(home=project, name="torch", created_by=researcher)
    ComputeResourceFactory(home=project, name="tenth", created_by=researcher)
    lines = (
        *("list jobs", "list jobs --no-headers -o wide", "list jobs -o name", "describe job mnist"),
        *(
            "workload export mnist",
            "project list -o name",
            "environment list",
            "compute describe tenth",
        ),
        "training pytorch submit new -i a:1 --cpu 0.1 --dry-run",
        "training pytorch submit new -i a:1 --workers 0 --nfs path=a",
        *("describe job nothing", "list jobs -p nowhere", "whoami"),
    )
    shown = []
    for line in lines:
        done = terminal(line, code=None)
        shown.append(f"$ trainyard {line}\n{done.out}{done.err}[{done.code:d}]\n")
    compare("output", "\n".join(shown))
