"""Programs, folders and images are looked up before a workload is submitted, as its start does."""

import os
from pathlib import Path
from typing import Any

import pytest

from engines.base import EngineRefused, Launch
from engines.local.planning import planner
from engines.local.planning.lookup import Programs
from spec.formats.documents import load_spec
from spec.phases import Phase
from spec.problems.errors import path_text
from spec.values.variable import EnvironmentVariable as Variable
from spec.workload import Replica
from tests.engines.contract import launch
from tests.engines.local.conftest import IMAGES, LocalRig


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Holds a program, a text and nothing else."""
    program = tmp_path / "code" / "train.sh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho trained\n")
    program.chmod(0o755)
    (program.parent / "notes.txt").write_text("nothing to run")
    return program.parent


def asked(*, run: int = 1, **worker: Any) -> Launch:
    made_of = {"image": "any/image", "command": "true"} | worker
    asking = launch("true", worker=Replica(**made_of))
    return Launch(asking.handle, run, asking.spec)


def complaints(launched: Launch) -> dict[str, str]:
    return {path_text(it.path): it.message for it in planner.complaints(launched, Programs(IMAGES))}


def test_missing_and_refused_parts_are_reported_together(rig: LocalRig) -> None:
    worker = {"image": "any/image", "command": "no-such-program", "workingDir": "/no/such/folder"}
    master = {"image": "unknown/image", "nodeType": "dgx"}
    spec = load_spec({"distributedFramework": "PyTorch", "worker": worker, "master": master})
    launched = launch("true")
    launched = Launch(launched.handle, 1, spec)
    fields = {path_text(it.path) for it in rig.engine.complaints(launched)}
    assert fields == {"worker.command", "worker.workingDir", "master.image", "master.nodeType"}
    with pytest.raises(EngineRefused) as refusal:
        rig.engine.submit(launched)
    assert all(field in str(refusal.value) for field in fields)


def test_a_relative_program_is_looked_for_in_the_working_folder(
    rig: LocalRig, folder: Path
) -> None:
    launched = asked(command="./train.sh", working_dir=str(folder))
    assert not complaints(launched)
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "trained\n"
    (folder / "bin").mkdir()
    (folder / "train.sh").rename(folder / "bin" / "run.sh")
    assert not complaints(asked(command="bin/run.sh", working_dir=str(folder)))
    assert str(folder / "train.sh") in complaints(launched)["worker.command"]


def test_a_relative_program_is_not_looked_for_where_trainyard_itself_runs() -> None:
    assert os.access("manage.py", os.F_OK)
    assert "own folder" in complaints(asked(command="./manage.py"))["worker.command"]
    assert "own folder" in complaints(asked(command="trainer/run"))["worker.command"]


def test_an_earlier_run_may_have_created_the_program() -> None:
    assert not complaints(asked(command="./train.sh", run=2))


def test_a_file_that_is_not_executable_is_not_reported_as_missing(folder: Path) -> None:
    text = str(folder / "notes.txt")
    assert "chmod +x" in complaints(asked(command=text))["worker.command"]
    assert "not a program" in complaints(asked(command=f"{text}.gone"))["worker.command"]
    assert "not a program" in complaints(asked(command=str(folder)))["worker.command"]


def test_a_program_is_looked_up_on_the_path_of_the_rank(folder: Path) -> None:
    path = Variable(name="PATH", value=str(folder))
    assert not complaints(asked(command="train.sh", environment_variables=(path,)))
    assert "worker.command" in complaints(asked(command="train.sh"))
    assert "worker.command" in complaints(asked(command="sh", environment_variables=(path,)))


@pytest.mark.parametrize("name", ["CODE", "UNKNOWN", "CHECKPOINT_DIR"])
def test_a_variable_in_the_name_of_a_program_is_expanded(folder: Path, name: str) -> None:
    code = Variable(name="CODE", value=str(folder))
    launched = asked(command=f"$({name})/gone.sh", environment_variables=(code,))
    assert list(complaints(launched)) == (["worker.command"] if name == "CODE" else [])
    assert not complaints(asked(command="$(CODE)/train.sh", environment_variables=(code,)))


def test_nothing_is_said_of_what_a_volume_brings() -> None:
    volume = {"emptyDirVolume": [{"path": "/data"}]}
    fields: dict[str, Any] = {"workingDir": "/data/code", "command": "./train.sh"}
    path = {"environmentVariables": [{"name": "PATH", "value": "/bin:/data/bin"}]}
    for worker in (fields, {"command": "/data/train"}, {"command": "mine"} | path):
        document = {"image": "any", "storage": volume} | worker
        spec = load_spec({"distributedFramework": "PyTorch", "worker": document})
        launched = Launch(launch("true").handle, 1, spec)
        assert not list(complaints(launched))


@pytest.mark.parametrize(
    ("working_dir", "message"),
    [
        ("code", "starts with /"),
        ("/etc/passwd", "is not a folder"),
        ("/" + "x" * 4000, "is not a folder"),
    ],
)
def test_a_working_folder_that_no_rank_could_enter_is_refused(
    working_dir: str, message: str
) -> None:
    assert message in complaints(asked(working_dir=working_dir))["worker.workingDir"]


@pytest.mark.parametrize("command", ["' '", "''"])
def test_a_command_without_a_program_is_refused(command: str) -> None:
    assert "has no program" in complaints(asked(command=command))["worker.command"]


@pytest.mark.parametrize("command", ["$(API_TOKEN)", "/no/such/$(API_TOKEN)", "bin/$(API_TOKEN)"])
def test_a_program_that_is_not_here_is_named_without_secret_values(command: str) -> None:
    variables = (Variable(name="API_TOKEN", value="topsecret"),)
    message = complaints(asked(command=command, environment_variables=variables))["worker.command"]
    assert "***" in message
    assert "topsecret" not in message


def test_a_start_that_fails_names_its_program_without_secret_values(rig: LocalRig) -> None:
    """Only the start knows the variables of the platform."""
    variables = (Variable(name="API_TOKEN", value="topsecret"),)
    command = "/no/$(POD_NAME)/$(API_TOKEN)"
    launched = asked(command=command, environment_variables=variables)
    rig.submit(launched)
    message = rig.over(launched).message
    assert "/***" in message
    assert "topsecret" not in message
