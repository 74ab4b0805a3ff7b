"""What a file would change, with all defaults on both sides."""

import json
from pathlib import Path

import pytest
import yaml

from tests.trainyard_cli.terminal import Terminal
from workloads.models import Workload

IMAGE = "kubeflow/pytorch-dist-mnist:latest"


@pytest.fixture
def exported(terminal: Terminal, tmp_path: Path) -> Path:
    """The file of a workload that is there."""
    line = f"training pytorch submit train -i {IMAGE} --workers 2 --cpu 0.1 -e A=1 -e TOKEN=x"
    terminal(line)
    path = tmp_path / "train.yaml"
    path.write_text(terminal("workload export train").out)
    return path


def changed(path: Path, **spec: object) -> Path:
    body = yaml.safe_load(path.read_text())
    body["spec"] |= spec
    other = path.with_name("changed.yaml")
    other.write_text(yaml.safe_dump(body))
    return other


def test_an_export_differs_in_nothing(terminal: Terminal, exported: Path) -> None:
    done = terminal(f"diff -f {exported} --exit-code")
    assert (done.out, done.err) == ("", "No differences.\n")
    assert Workload.objects.count() == 1


def test_each_change_is_named_by_its_path(terminal: Terminal, exported: Path) -> None:
    variables = [{"name": "A", "value": "2"}, {"name": "B", "value": "3"}]
    other = changed(exported, numWorkers=4, environmentVariables=variables)
    assert set(terminal(f"training diff train -f {other}").out.splitlines()) == {
        "~ spec.numWorkers: 2 → 4",
        "~ spec.environmentVariables[A].value: 1 → 2",
        '- spec.environmentVariables[TOKEN]: {"name": "TOKEN", "value": "***"}',
        '+ spec.environmentVariables[B]: {"name": "B", "value": "3"}',
    }
    terminal(f"diff -f {other} --exit-code", code=1)
    against = json.loads(terminal(f"diff -f {other} --against {exported} -o json").out)
    assert {"path": "spec.numWorkers", "before": 2, "after": 4} in against


def test_a_field_that_a_file_leaves_out_has_its_default(
    terminal: Terminal, exported: Path, tmp_path: Path
) -> None:
    short = tmp_path / "short.yaml"
    spec = {"image": IMAGE, "numWorkers": 2, "distributedFramework": "PyTorch"}
    spec["compute"] = {"cpuCoreRequest": 0.1}
    short.write_text(yaml.safe_dump({"name": "train", "spec": spec}))
    lines = terminal(f"diff -f {short}").out.splitlines()
    assert {line.split(":")[0] for line in lines} == {
        "- spec.environmentVariables[A]",
        "- spec.environmentVariables[TOKEN]",
    }


def test_a_file_that_is_refused_says_what_is_wrong(terminal: Terminal, exported: Path) -> None:
    done = terminal(f"diff -f {changed(exported, numWorkers=0)}", code=1)
    assert "--workers: must be at least 1" in done.err
    assert "There is no workload other" in terminal(f"diff other -f {exported}", code=4).err
