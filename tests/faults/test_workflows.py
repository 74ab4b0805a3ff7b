"""A workflow whose processes are killed at each of its steps: every group runs once, and the
workflow ends as it would."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.product import PROGRAMS, Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

PATIENCE = 120.0  # seconds until all is over: each restart of a program is later than the last
EVERYTHING = "everything"
VICTIMS = (*PROGRAMS, EVERYTHING)


def file_of(folder: Path) -> str:
    """Return a workflow with a group for each victim, one after the other. Each group says that it
    has started, and ends when its gate is open."""
    tasks = []
    for number, name in enumerate(VICTIMS):
        script = f"echo {name} >> {folder}/ran; until [ -e {folder}/{name} ]; do sleep 0.2; done"
        inputs = f", inputs: [{{task: {VICTIMS[number - 1]}}}]" if number else ""
        tasks.append(f'  - {{name: {name}, image: none, command: [sh, -c, "{script}"]{inputs}}}\n')
    return f"workflow:\n  name: killed\n  tasks:\n{''.join(tasks)}"


def test_every_group_runs_once_whatever_is_killed(
    trainyard: Trainyard, rest: Rest, tmp_path: Path
) -> None:
    body = {"projectId": rest.project["id"], "file": file_of(tmp_path)}
    label = rest.send("POST", "/workflows", body)["label"]
    ran = tmp_path / "ran"
    for name in VICTIMS:
        wait_for(partial(_has_started, ran, name), PATIENCE, f"{name} to start")
        if name == EVERYTHING:
            trainyard.kill_everything()
            trainyard.start()
        else:
            trainyard.kill(name)
        # The group ends while the killed program is not back yet.
        (tmp_path / name).touch()
    wait_for(lambda: _status(trainyard, rest, label) == "COMPLETED", PATIENCE, "its end")
    assert Counter(_lines(ran)) == dict.fromkeys(VICTIMS, 1)
    names = [row["name"] for row in rest.send("GET", "/workloads")["workloads"]]
    assert sorted(names) == sorted(f"{label}-{name}" for name in VICTIMS)


def _has_started(file: Path, name: str) -> bool:
    return name in _lines(file)


def _lines(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def _status(trainyard: Trainyard, rest: Rest, label: str) -> Any:
    return trainyard.is_up() and rest.send("GET", f"/workflows/{label}")["status"]
