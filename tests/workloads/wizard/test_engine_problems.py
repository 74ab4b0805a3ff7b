"""What a cluster's engine would refuse is said in the wizard, before there is a workload."""

from typing import Any

import pytest

from clusters.models import Node, NodePool
from projects.models import Project
from spec.framework import Framework
from tests.factories import ComputeResourceFactory
from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload
from workloads.wizard.pages import summary

pytestmark = pytest.mark.django_db
PORTION = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}


@pytest.fixture
def on_kubernetes(project: Project) -> Project:
    """A cluster with every framework and without KAI; it is never asked."""
    cluster = project.cluster
    cluster.kind = "kubernetes"
    offers = [{"framework": name, "available": True} for name in Framework]
    cluster.capabilities_json = {"frameworks": offers, "queues": True}
    cluster.save()
    return project


@pytest.mark.parametrize(
    ("values", "compute", "field"),
    [
        ({"nodePools": ["a100"]}, {}, "nodePools"),
        ({"priorityClass": "high"}, {}, "priorityClass"),
        ({}, PORTION, "worker.compute.gpuRequestType"),
    ],
)
def test_a_refusal_is_a_problem_of_its_field(
    wizard: Wizard,
    on_kubernetes: Project,
    values: dict[str, Any],
    compute: dict[str, Any],
    field: str,
) -> None:
    wizard.ready()
    draft = wizard.draft
    draft.document["values"] |= values
    draft.document["worker"]["values"] = {"compute": compute} if compute else {}
    draft.save()
    assert field in [problem.field for problem in wizard.plan().problems]
    wizard.open(wizard.at(3)).press("create")
    assert not Workload.objects.exists()


def test_a_label_that_an_operator_owns_is_told_at_its_row(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready()
    draft = wizard.draft
    labels = [{"name": "training.kubeflow.org/job-name", "value": "other"}]
    draft.document["worker"]["values"] = {"labels": labels}
    draft.save()
    page = wizard.open(wizard.at(2)).press("create").page
    assert "belongs to the operators of Kubeflow; leave it out" in page
    assert not Workload.objects.exists()


def test_xgboost_without_a_master_is_told_on_the_configuration(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready(framework="XGBoost", architecture="workers_only")
    problems = {problem.field: problem.message for problem in wizard.plan().problems}
    assert "choose Workers &amp; master" in wizard.open(wizard.at(1)).page
    assert "needs a master" in problems["architecture"]


def test_ranks_that_may_share_a_real_gpu_are_warned_of_nccl(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    on_kubernetes.cluster.has_virtual_gpus = False  # as those of the factory are
    on_kubernetes.cluster.capabilities_json |= {"schedulers": ["kai-scheduler"]}
    on_kubernetes.cluster.save()
    wizard.ready()
    draft = wizard.draft
    draft.document["worker"]["values"] = {"compute": PORTION}
    draft.save()
    made = wizard.plan()
    assert made.is_submittable, made.problems
    assert summary.summarize(made).cautions
    assert "NCCL" in wizard.open(wizard.at(2)).page


def asking(project: Project, gpus: int) -> str:
    document = {"gpuDevicesRequest": gpus} if gpus else {}
    return str(ComputeResourceFactory(home=project, spec_json=document).pk)


@pytest.mark.parametrize(
    ("nodes", "gpus", "told"),
    [
        ([0, 0], 1, "No node of {cluster} has GPUs."),
        ([0, 8], 9, "No node of {cluster} has 9 GPUs, the most is 8."),
        ([0, 8], 8, "Even without other workloads, 1 of its 3 pods fit on {cluster}."),
        ([0, 8, 8, 8], 8, ""),
        ([0, 8], 0, ""),
        ([], 1, ""),  # nobody looked yet
    ],
)
def test_more_gpus_than_any_node_has_are_only_a_warning(
    wizard: Wizard, on_kubernetes: Project, nodes: list[int], gpus: int, told: str
) -> None:
    on_kubernetes.over_quota = True
    on_kubernetes.save()
    cluster = on_kubernetes.cluster
    cluster.nodes.all().delete()
    for index, have in enumerate(nodes):
        Node.objects.create(cluster=cluster, name=f"n{index}", cpu=8, memory=10**10, gpu_count=have)
    wizard.ready()
    draft = wizard.draft
    draft.document["worker"]["assets"]["compute"] = asking(on_kubernetes, gpus)
    draft.save()
    made = wizard.plan()
    found = summary.summarize(made)
    assert made.is_submittable
    assert found.detail.startswith(told.format(cluster=cluster.name) or "The cluster's queue")
    assert found.tone == ("danger" if told else "neutral")
    assert found.todo.startswith("It will never start unless such nodes are added." if told else "")


def test_a_pool_without_gpus_is_a_warning_before_all_is_filled_in(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    cluster = on_kubernetes.cluster
    pool = NodePool.objects.create(cluster=cluster, name="cpu", label_key="a", label_value="b")
    Node.objects.create(cluster=cluster, name="plain", cpu=8, memory=10**10, pool=pool)
    wizard.ready(name="")
    draft = wizard.draft
    draft.document["values"]["nodePools"] = ["cpu"]
    draft.document["worker"]["assets"]["compute"] = asking(on_kubernetes, 1)
    draft.save()
    found = summary.summarize(wizard.plan())
    assert "No node of the node pool cpu has GPUs." in found.cautions[0]
    assert wizard.open(wizard.at(2)).page.count("No node of the node pool cpu has GPUs.") == 1
