"""The summary: the verdict, the numbers, and the same workload as YAML and for curl."""

import json
import shlex

import pytest
import yaml
from django.utils import timezone

from core.rest import curl
from projects.models import Project
from tests.factories import ComputeResourceFactory, ProjectFactory, WorkloadFactory
from tests.workloads.wizard.browser import Wizard
from workloads.wizard.pages import summary
from workloads.wizard.pages.outputs import Outputs
from workloads.wizard.pages.summary import Summary

pytestmark = pytest.mark.django_db


def of(wizard: Wizard) -> Summary:
    return summary.summarize(wizard.plan())


def test_the_summary_says_that_a_training_starts_at_once(wizard: Wizard) -> None:
    found = of(wizard.ready())
    assert (found.tone, found.headline) == ("success", "Starts immediately")
    assert (found.pods, found.world_size) == ("3 = 1 master + 2 workers", 3)
    assert found.ranks == [("0", "master-0"), ("1", "worker-0"), ("2", "worker-1")]
    assert found.meters[0].text == "0.3 · leaves 1.7 of 2"


def test_the_summary_shows_the_time_of_the_node_counts(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    cluster = on_kubernetes.cluster
    cluster.counted_at = timezone.now()
    cluster.save()
    assert of(wizard.ready()).as_of == cluster.counted_at
    assert "Based on the nodes as of" in wizard.open(wizard.at(2)).page


def test_the_summary_says_what_runs_a_training(wizard: Wizard, on_kubernetes: Project) -> None:
    assert of(wizard.ready()).runs_as == "a PyTorchJob of the Kubeflow training operator"
    cluster = on_kubernetes.cluster
    plain = {"framework": "PyTorch", "available": True, "is_plain": True}
    cluster.capabilities_json = {**cluster.capabilities_json, "frameworks": [plain]}
    cluster.save()
    page = wizard.open(wizard.at(2)).page
    assert "An Indexed Job of Kubernetes, because the cluster has no PyTorchJob" in page


def test_the_summary_says_that_a_training_will_wait_for_quota(
    wizard: Wizard, project: Project
) -> None:
    project.over_quota = False
    project.save()
    WorkloadFactory(project=project, running=True, gpus=1.9)
    found = of(wizard.ready())
    assert found.headline == "Will wait"
    assert found.detail.startswith("With it, team-a would hold 2.2 GPUs, the quota is 2")
    assert found.meters[0].is_over


def test_the_meter_is_of_the_quota_that_has_the_least_left(
    wizard: Wizard, project: Project
) -> None:
    department = project.department
    department.gpu_quota = 1
    department.over_quota = False
    department.save()
    assert of(wizard.ready()).meters[0].text == "0.3 · leaves 0.7 of the department's 1"
    sibling = ProjectFactory(cluster=project.cluster, department=department)
    WorkloadFactory(project=sibling, running=True, gpus=0.9)
    over = of(wizard).meters[0]
    assert (over.text, over.is_over) == ("0.3 · 0.2 over the department's quota of 1", True)
    assert (over.used, over.total) == (1.2, 1)


def test_the_summary_says_that_a_training_can_never_start(wizard: Wizard, project: Project) -> None:
    huge = ComputeResourceFactory(home=project, spec_json={"gpuDevicesRequest": 4})
    wizard.ready()
    wizard.save(2, **{"worker-compute": str(huge.pk)})
    assert of(wizard).headline == "Can never start"
    assert "12 GPUs requested" in of(wizard).detail
    page = wizard.open(wizard.at(2)).page
    assert page.count("12 GPUs requested") == 2, "in the verdict, and at the field"
    assert '<a href="#worker-compute">Compute resource</a>' in page


def test_the_summary_counts_and_links_open_fields(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.open(wizard.at(2)).page
    assert "3 things to fill in or fix" in page
    assert f'href="{wizard.at(1)}#name"' in page
    assert 'href="#worker-environment"' in page


def test_the_summary_counts_fields_of_later_pages_as_no_problem_yet(wizard: Wizard) -> None:
    first = wizard.open().page
    assert "Select an environment." not in first
    assert "To do on the next pages" in first
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
    body = yaml.safe_load(Outputs(wizard.ready().plan()).yaml)
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


def test_the_curl_command_sends_the_body_of_the_request(wizard: Wizard) -> None:
    outputs = Outputs(wizard.ready().plan(), "https://trainyard.example/api/")
    words = shlex.split(outputs.curl)
    assert words[:3] == ["curl", "-sS", "https://trainyard.example/api/distributed"]
    assert json.loads(words[words.index("-d") + 1]) == yaml.safe_load(outputs.yaml)


def test_the_curl_command_is_safe_to_paste() -> None:
    body = {"command": "echo 'a b' $(id) `id` !! \\", "name": "größe\n"}
    words = shlex.split(curl.post("https://h/x?a=1&b", body))
    assert json.loads(words[-1]) == body
    assert words[2] == "https://h/x?a=1&b"


def test_the_page_shows_the_address_that_programs_submit_to(wizard: Wizard) -> None:
    page = wizard.ready().open(wizard.at(2)).page
    assert "curl -sS http://testserver/api/v1/workloads/distributed" in page


def test_the_command_line_says_the_same_as_the_request(wizard: Wizard) -> None:
    line = Outputs(wizard.ready().plan()).line
    assert line.startswith("trainyard training pytorch submit train")
    assert "--project team-a" in line
    assert "--workers 2" in line
    page = wizard.open(wizard.at(2)).page
    assert "trainyard training pytorch submit train" in page
