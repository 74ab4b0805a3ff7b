"""The summary: the verdict, the numbers, and the same workload as YAML and as a command."""

import shlex

import pytest
import yaml

from projects.models import Project
from tests.factories import ComputeResourceFactory, ProjectFactory, WorkloadFactory
from tests.workloads.wizard.browser import Wizard
from workloads import commandline, summary
from workloads.summary import Summary

pytestmark = pytest.mark.django_db


def of(wizard: Wizard) -> Summary:
    return summary.of(wizard.plan())


def test_it_starts_at_once(wizard: Wizard) -> None:
    found = of(wizard.ready())
    assert (found.tone, found.headline) == ("success", "Starts at once")
    assert (found.pods, found.world_size) == ("3 = 1 master + 2 workers", 3)
    assert found.ranks == [("0", "master-0"), ("1", "worker-0"), ("2", "worker-1")]
    assert found.meters[0].text == "0.3 · leaves 1.7 of 2"


def test_it_will_wait_for_quota(wizard: Wizard, project: Project) -> None:
    project.over_quota = False
    project.save()
    WorkloadFactory(project=project, running=True, gpus=1.9)
    found = of(wizard.ready())
    assert found.headline == "Will wait"
    assert found.detail.startswith("With it, team-a would hold 2.2 GPUs, the quota is 2")
    assert found.meters[0].over


def test_the_meter_is_of_the_quota_that_has_the_least_left(
    wizard: Wizard, project: Project
) -> None:
    department = project.department
    department.gpu_quota, department.over_quota = 1, False
    department.save()
    assert of(wizard.ready()).meters[0].text == "0.3 · leaves 0.7 of the department's 1"
    sibling = ProjectFactory(cluster=project.cluster, department=department)
    WorkloadFactory(project=sibling, running=True, gpus=0.9)
    over = of(wizard).meters[0]
    assert (over.text, over.over) == ("0.3 · 0.2 over the department's quota of 1", True)
    assert (over.used, over.total) == (1.2, 1)


def test_it_can_never_start(wizard: Wizard, project: Project) -> None:
    huge = ComputeResourceFactory(home=project, spec_json={"gpuDevicesRequest": 4})
    wizard.ready()
    wizard.save(2, **{"worker-compute": str(huge.pk)})
    assert of(wizard).headline == "Can never start"
    assert "12 GPUs asked for" in of(wizard).detail


def test_what_is_open_is_counted_and_linked(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.open(wizard.at(2)).page
    assert "3 things to fill in or correct" in page
    assert f'href="{wizard.at(1)}#name"' in page
    assert 'href="#worker-environment"' in page


def test_what_later_pages_ask_for_is_no_problem_yet(wizard: Wizard) -> None:
    first = wizard.open().page
    assert "Select an environment." not in first
    assert "Still to fill in on the next pages" in first
    assert f'<li><a href="{wizard.at(2)}#worker-environment">Environment</a></li>' in first
    second = wizard.open(wizard.at(2)).page
    assert "Select an environment." in second
    assert "on the next pages" not in second
    wizard.save(2, numWorkers="0")
    assert "Number of workers must be at least 1." in wizard.open(wizard.at(1)).page


def test_numbers_are_told_before_an_environment_is_chosen(wizard: Wizard, project: Project) -> None:
    compute = ComputeResourceFactory(home=project)
    wizard.open()
    wizard.save(2, **{"worker-compute": str(compute.pk), "numWorkers": "3"})
    found = of(wizard)
    assert found.world_size == 4
    assert found.meters[0].text == "0.4 · leaves 1.6 of 2"


def test_many_ranks_are_shortened(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(2, numWorkers="100")
    assert of(wizard).ranks == [
        ("0", "master-0"),
        ("1", "worker-0"),
        ("2", "worker-1"),
        ("…", "97 more"),
        ("100", "worker-99"),
    ]


def test_the_yaml_is_the_body_of_the_request(wizard: Wizard, project: Project) -> None:
    body = yaml.safe_load(of(wizard.ready()).yaml)
    assert body == {
        "name": "train",
        "projectId": str(project.pk),
        "clusterId": str(project.cluster_id),
        "spec": {
            "distributedFramework": "PyTorch",
            "numWorkers": 2,
            "image": "kubeflow/pytorch-dist-mnist:latest",
            "compute": {
                "gpuDevicesRequest": 1,
                "gpuRequestType": "portion",
                "gpuPortionRequest": 0.1,
            },
        },
    }


def test_the_command_is_the_one_of_the_documents(wizard: Wizard) -> None:
    words = shlex.split(of(wizard.ready()).command.replace("\\\n", " "))
    assert words[:6] == ["trainyard", "distributed", "submit", "train", "--project", "team-a"]
    options = dict(zip(words[4::2], words[5::2], strict=True))
    assert options == {
        "--project": "team-a",
        "--framework": "PyTorch",
        "--image": "kubeflow/pytorch-dist-mnist:latest",
        "--workers": "2",
        "--gpu-request-type": "portion",
        "--gpu-portion-request": "0.1",
        "--gpu-devices-request": "1",
    }


def test_the_command_is_safe_to_paste() -> None:
    worker = {
        "image": "a:b",
        "command": "python x.py; reboot",
        "args": "--name='two words'",
        "environmentVariables": [{"name": "A", "value": "$(id) `id`"}],
        "labels": [{"name": "team", "value": "x y"}],
    }
    document = {"distributedFramework": "PyTorch", "worker": worker, "backoffLimit": 3}
    line = commandline.render("", "p", document).replace("\\\n", " ")
    words = shlex.split(line)
    assert words[3] == "NAME"
    assert "A=$(id) `id`" in words
    assert words[words.index("--") + 1 :] == ["python", "x.py;", "reboot", "--name=two words"]
    assert "'x.py;'" in line
    assert "--backoff-limit" in words


def test_a_command_that_no_shell_could_read_is_one_word() -> None:
    worker = {"image": "a:b", "command": "echo 'unfinished"}
    line = commandline.render("n", "", {"worker": worker, "architecture": "workers_only"})
    assert shlex.split(line.replace("\\\n", " "))[-1] == "echo 'unfinished"
    assert "--no-master" in line


def test_a_master_of_its_own_has_its_own_flags() -> None:
    master = {"image": "m:1", "command": "lead", "compute": {"cpuCoreRequest": 2.0}}
    line = commandline.render("n", "", {"worker": {"image": "w:1"}, "master": master})
    for flag in ("--image w:1", "--master-image m:1", "--master-command lead"):
        assert flag in line
    assert "--master-cpu-core-request 2.0" in line


def test_volumes_and_places_have_their_flags() -> None:
    worker = {
        "image": "w:1",
        "storage": {
            "pvc": [
                {"path": "/d", "claimInfo": {"size": "1G"}, "ephemeral": True},
                {"path": "/o", "existingPvc": True, "claimName": "old", "readOnly": True},
            ],
            "git": [{"repository": "https://h/x", "path": "/src", "secretRef": {"name": "key"}}],
            "nfs": [{"server": "n", "path": "/e", "mountPath": "/n", "readOnly": False}],
        },
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "podAffinity": {"type": "Required", "key": "rack"},
    }
    line = commandline.render("n", "", {"worker": worker, "nodePools": ["a", "b"]})
    for flag in (
        "--new-pvc size=1G,path=/d,accessmode-rwo,ephemeral",
        "--existing-pvc claimname=old,path=/o,ro",
        "--git-sync repository=https://h/x,path=/src,secret=key",
        "--nfs path=/e,server=n,mountpath=/n,readwrite",
        "--toleration key=gpu,operator=Exists",
        "--required-pod-topology-key rack",
        "--node-pools a",
    ):
        assert flag in line
