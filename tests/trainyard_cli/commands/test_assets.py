"""Assets and templates by name: listed, described, and what submissions are made of."""

import json
from pathlib import Path

import pytest
import yaml

from accounts.models import User
from assets.models import Credential
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
)
from tests.trainyard_cli.terminal import Terminal
from workloads.models import Workload

CODE = {"kind": "git", "git": {"repository": "https://example.com/a.git", "path": "/code"}}
SUBMIT = "training pytorch submit train"


@pytest.fixture(autouse=True)
def gallery(project: Project) -> None:
    """One of each kind, called as the kind is."""
    EnvironmentFactory(home=project, name="torch")
    ComputeResourceFactory(home=project, name="tenth")
    DataSourceFactory(home=project, name="code", spec_json=CODE)
    CredentialFactory(home=project, name="hub", entered={"token": "zanzibar"})
    draft = {
        "framework": "PyTorch",
        "values": {"numWorkers": 4},
        "worker": {"values": {"image": "a:1"}},
    }
    TemplateFactory(home=project, name="base", draft_json=draft)


def stored(terminal: Terminal, line: str) -> Workload:
    line = line.replace(SUBMIT, f"{SUBMIT} -o name")
    return Workload.objects.get(name=terminal(line).out.strip())


@pytest.mark.parametrize(
    ("word", "name", "cell"),
    [
        ("environment", "torch", "kubeflow/pytorch-dist-mnist:latest"),
        ("compute", "tenth", "0.1"),
        ("datasource", "code", "git"),
        ("credential", "hub", "genericSecret"),
        ("template", "base", "PyTorch"),
    ],
)
def test_assets_are_listed_and_described_by_name(
    terminal: Terminal, word: str, name: str, cell: str
) -> None:
    (row,) = terminal(f"{word} list --no-headers").rows
    assert row[0] == name
    assert cell in row
    assert terminal(f"{word} list -p team-a -o name").out.split() == [name]
    described = terminal(f"{word} describe {name}")
    assert f"Name:        {name}" in described.out or f"Name:    {name}" in described.out
    assert "zanzibar" not in described.out
    whole = json.loads(terminal(f"{word} describe {name} -o json").out)
    pk = whole["meta"]["id"]
    assert terminal(f"{word} describe {pk} -o name").out.strip() == name
    refused = terminal(f"{word} describe nothing", code=4)
    assert f"trainyard {word} list" in refused.err
    terminal("whoami")
    for line in (f"{word} list", f"{word} describe {name}"):
        assert len(terminal(f"--debug {line}").err.splitlines()) <= 2


def test_an_environment_of_the_account_is_listed_as_such(terminal: Terminal) -> None:
    EnvironmentFactory(in_account=True, name="shared")
    listed = {row[0]: row[2] for row in terminal("environment list --no-headers").rows}
    assert listed == {"shared": "account", "torch": "project"}
    assert "account" in terminal("environment describe shared").out


def test_a_submission_is_made_of_assets_by_their_names(terminal: Terminal) -> None:
    line = f"{SUBMIT} --environment torch --compute tenth --datasource name=code,path=/src"
    workload = stored(terminal, f"{line} --environment A=1 --workers 3 --cpu 0.2")
    worker = workload.spec.worker
    assert worker.image == "kubeflow/pytorch-dist-mnist:latest"
    assert (worker.compute.gpu_portion_request, worker.compute.cpu_core_request) == (0.1, 0.2)
    assert [it.path for it in worker.storage.git] == ["/src"]
    assert [(it.name, it.value) for it in worker.environment_variables] == [("A", "1")]
    assert "train (distributed)" in terminal("compute describe tenth").out


def test_a_template_gives_what_flags_leave_out(terminal: Terminal) -> None:
    workload = stored(terminal, f"{SUBMIT} --template base --cpu 0.1 -- --epochs 3")
    assert workload.spec.num_workers == 4
    assert (workload.spec.worker.image, workload.spec.worker.args) == ("a:1", "--epochs 3")
    assert workload.template
    refused = terminal("workspace submit desk --template base", code=1)
    assert "--template: is of another kind" in refused.err


def test_a_name_that_cannot_be_used_says_why(
    terminal: Terminal, project: Project, researcher: User
) -> None:
    assert "no environment nothing" in terminal(f"{SUBMIT} --environment nothing", code=4).err
    other = ProjectFactory(members=[researcher])
    ComputeResourceFactory(home=other, name="elsewhere")
    refused = terminal(f"{SUBMIT} -i a:1 --compute elsewhere", code=1)
    assert "its scope does not hold the project team-a" in refused.err
    ComputeResourceFactory(home=project, name="twice")
    ComputeResourceFactory(home=other, name="twice")
    assert "Use one of their ids" in terminal("compute describe twice", code=2).err


def test_a_file_of_the_wizard_names_assets_too(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    spec = {"numWorkers": 2}
    path.write_text(yaml.safe_dump({"assets": {"environment": "torch"}, "spec": spec}))
    workload = stored(terminal, f"{SUBMIT} -f {path} --compute tenth")
    assert workload.spec.worker.image == "kubeflow/pytorch-dist-mnist:latest"
    path.write_text(yaml.safe_dump({"masterAssets": {"environment": "torch"}, "spec": spec}))
    assert "names assets of the master" in terminal(f"{SUBMIT} -f {path}", code=2).err


def test_a_credential_of_ones_own_is_set_replaced_and_deleted(
    terminal: Terminal, tmp_path: Path, researcher: User
) -> None:
    (tmp_path / "token").write_text("hush\n")
    line = f"credential set wandb --payload-file token={tmp_path / 'token'}"
    assert terminal(line).out == "Set GENERIC credential wandb.\n"
    assert terminal(f"{line} --payload team=a").out == "Set GENERIC credential wandb.\n"
    credential = Credential.objects.get(name="wandb")
    assert credential.owner == researcher
    assert sorted(credential.spec.keys or ()) == ["team", "token"]
    assert "hush" not in terminal("credential describe wandb").out
    terminal("credential set wandb --type REGISTRY --payload registry=ghcr.io", code=2)
    full = "--payload registry=ghcr.io --payload username=a --payload auth=b"
    other = terminal(f"credential set wandb --type REGISTRY {full}", code=1)
    assert "credential delete wandb" in other.err
    assert terminal("credential delete wandb").out == "Deleted credential wandb.\n"
    terminal("credential delete wandb", code=4)
    data = "--payload endpoint=s3://b --payload access_key_id=a --payload access_key=b"
    assert "endpoint is left out" in terminal(f"credential set s3 --type DATA {data}").err
    terminal("credential set none", code=2)
    assert "hush" not in terminal("credential set none --payload hush", code=2).err
