"""The documented job of GitHub Actions, run by a shell as GitHub runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from config.run.install import ROOT
from tests.product import Trainyard
from tests.trainyard_cli.terminal import Terminal

pytestmark = pytest.mark.extended

SPEC = {"image": "kubeflow/pytorch-dist-mnist:latest", "numWorkers": 1, "backoffLimit": 0}
COMPUTE = {"compute": {"cpuCoreRequest": 0.1}}


def script_of_the_job() -> str:
    """The step that trains."""
    page = (ROOT / "docs" / "cli.md").read_text()
    (block,) = re.findall(r"```yaml\n(jobs:.*?)\n```\n\n", page, re.DOTALL)
    steps = yaml.safe_load(block)["jobs"]["train"]["steps"]
    (script,) = (str(it["run"]) for it in steps if it.get("name") == "Train")
    return script


@pytest.fixture(scope="module")
def environment(
    running_trainyard: Trainyard, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the job's ``env`` says, of a key that a person made, and the program in the path."""
    folder = tmp_path_factory.mktemp("runner")
    terminal = Terminal(running_trainyard.url, folder / "config.json")
    terminal.sign_in(running_trainyard.username, running_trainyard.password)
    kept = json.loads(terminal.config.read_text())
    program = folder / "trainyard"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trainyard_cli "$@"\n')
    program.chmod(0o755)
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "TRAINYARD_SERVER": running_trainyard.url,
        "TRAINYARD_CLIENT_ID": kept["client_id"],
        "TRAINYARD_CLIENT_SECRET": kept["client_secret"],
    }


@pytest.mark.parametrize(("command", "code"), [("echo trained", 0), ("echo broken; exit 3", 3)])
def test_the_documented_job_ends_like_its_training_with_its_logs(
    environment: dict[str, str], tmp_path: Path, command: str, code: int
) -> None:
    spec = SPEC | COMPUTE | {"command": f"sh -c '{command}'"}
    (tmp_path / "train.yaml").write_text(yaml.safe_dump({"spec": spec}))
    summary = tmp_path / "summary.md"
    of_github = {"GITHUB_RUN_NUMBER": f"7{code}", "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", "-e", "-c", script_of_the_job()],  # noqa: S607
        env=environment | of_github,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    text = summary.read_text()
    assert text.startswith(f"### ci-7{code}-")
    assert {"master-0 ", "worker-0 "} <= {line[:9] for line in text.splitlines()}
    assert command.split()[1].rstrip(";") in text
