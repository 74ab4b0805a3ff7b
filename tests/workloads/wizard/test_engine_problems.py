"""What a cluster's engine would refuse is said in the wizard, before there is a workload."""

from typing import Any

import pytest

from clusters.models import Kind
from projects.models import Project
from spec.workload import Framework
from tests.workloads.wizard.browser import Wizard
from workloads import summary
from workloads.models import Workload

pytestmark = pytest.mark.django_db
PORTION = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}


@pytest.fixture
def on_kubernetes(project: Project) -> Project:
    """A cluster with every framework and without KAI; it is never asked."""
    cluster = project.cluster
    cluster.kind = Kind.KUBERNETES
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
    assert made.submittable, made.problems
    assert summary.of(made).cautions
    assert "NCCL" in wizard.open(wizard.at(2)).page
