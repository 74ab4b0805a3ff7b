"""A manifest of Kubernetes from the command line: submitted, tried, or refused by its places."""

import json
from pathlib import Path

import pytest

from config.rest.examples import MANIFEST
from tests.trainyard_cli.terminal import Terminal
from workloads.models import Workload


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(MANIFEST))
    return path


def test_a_manifest_is_submitted(terminal: Terminal, manifest: Path) -> None:
    assert "Submitted mnist-manifest." in terminal(f"submit-manifest {manifest}").out
    assert Workload.objects.get(name="mnist-manifest").num_pods == 3
    assert terminal(f"submit-manifest {manifest} --name b -o name").out == "b\n"


def test_a_manifest_on_standard_input_is_tried(terminal: Terminal) -> None:
    done = terminal("submit-manifest - --dry-run", typed=json.dumps(MANIFEST))
    assert "numWorkers: 2" in done.out
    assert not Workload.objects.exists()


def test_the_places_that_no_workload_has_are_named(terminal: Terminal, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(json.dumps({"apiVersion": "apps/v1", "kind": "Deployment"}))
    done = terminal(f"submit-manifest {other}", code=1)
    assert "Deployment of apps/v1 cannot be run" in done.err
    assert "cannot be read" in terminal("submit-manifest nothing.yaml", code=2).err
