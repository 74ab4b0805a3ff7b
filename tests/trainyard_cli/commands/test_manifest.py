"""A manifest of Kubernetes from the command line: submitted, tried, or refused by its places."""

import json
from copy import deepcopy
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


def test_a_fault_is_named_by_its_place_in_the_manifest(terminal: Terminal) -> None:
    manifest = deepcopy(MANIFEST)
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["restartPolicy"] = "ExitCode"
    place = "  spec.pytorchReplicaSpecs.Worker.restartPolicy: must be one of"
    for flags in ("", "--dry-run"):
        assert (
            place in terminal(f"submit-manifest - {flags}", typed=json.dumps(manifest), code=1).err
        )
    text = json.dumps(MANIFEST).replace('"mnist-manifest"', "{{ name }}")
    done = terminal("submit-manifest -", typed=text, code=1)
    assert "This is a template: {{ name }} has to be filled in first" in done.err


def test_notes_about_what_is_left_out_are_printed(terminal: Terminal) -> None:
    manifest = deepcopy(MANIFEST)
    manifest["metadata"] |= {"namespace": "kubeflow"}
    for flags in ("--dry-run", ""):
        done = terminal(f"submit-manifest - {flags}", typed=json.dumps(manifest))
        assert "metadata.namespace: is left out: the project says where it runs" in done.err


WORKFLOW = "workflow:\n  name: train\n  tasks:\n  - platform: {{platform}}\n"


def test_a_workflow_of_osmo_is_recognized(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "workflow.yaml"
    path.write_text(WORKFLOW)
    for line in (
        f"submit-manifest {path}",
        f"training pytorch submit -f {path}",
    ):
        done = terminal(line, code=None)
        assert done.code
        assert "OSMO workflow" in done.err, line


def test_a_file_of_another_kind_says_how_it_is_submitted(
    terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(MANIFEST))
    done = terminal(f"training pytorch submit -f {path}", code=2)
    assert f"trainyard submit-manifest {path}" in done.err
    path.write_text("spec:\n  image: {{ image }}\n")
    done = terminal(f"training pytorch submit -f {path}", code=2)
    assert "is a template: {{ image }} has to be filled in first" in done.err
