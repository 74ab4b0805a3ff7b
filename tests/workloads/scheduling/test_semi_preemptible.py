"""Semi-preemptible: the minimum of workers is guaranteed where the scheduler knows that."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.conftest import on_kubernetes, owner, project, wizard
from workloads.plan import Plan, plan
from workloads.scheduling.fit.judge import Answer

__all__ = ["on_kubernetes", "owner", "project", "wizard"]
pytestmark = pytest.mark.django_db
SEMI = "semi-preemptible"


@pytest.fixture
def on_kai(on_kubernetes: Project) -> Project:
    """The project, with 2 GPUs, on a cluster whose KAI enforces quotas and knows the word."""
    cluster = on_kubernetes.cluster
    cluster.capabilities_json |= {"quotas": True, "semi_preemptible": True}
    cluster.save()
    cluster.nodes.update(gpu_count=4, allocated_cpu=0, allocated_memory=0, allocated_gpus=0)
    return on_kubernetes


def planned(project: Project, by: User, least: int, **values: Any) -> Plan:
    compute = {"gpuDevicesRequest": 1}
    draft = WorkloadDraft(
        name="train",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values={"image": "x:1", "command": "true", "compute": compute}),
        values={"numWorkers": 4, "minReplicas": least, "preemptibility": SEMI, **values},
    )
    return plan(draft, by=by)


def test_a_minimum_within_the_quota_is_accepted(on_kai: Project, owner: User) -> None:
    result = planned(on_kai, owner, 2)
    assert result.is_submittable, result.problems
    assert result.fit
    assert result.fit.answer is not Answer.NEVER


def test_a_minimum_beyond_the_quota_never_starts(on_kai: Project, owner: User) -> None:
    fit = planned(on_kai, owner, 3).fit
    assert fit
    assert fit.cause
    assert fit.answer is Answer.NEVER
    assert "3 GPUs, the quota is 2" in fit.cause.title
    preemptible = planned(on_kai, owner, 3, preemptibility="preemptible").fit
    assert preemptible
    assert preemptible.answer is not Answer.NEVER


def test_a_cluster_without_the_scheduler_refuses_it(on_kubernetes: Project, owner: User) -> None:
    (problem,) = planned(on_kubernetes, owner, 2).problems
    assert problem.field == "preemptibility"
    assert "release of KAI that knows semi-preemptible" in problem.message


def test_this_machine_refuses_it(project: Project, owner: User) -> None:
    fields = {problem.field for problem in planned(project, owner, 2).problems}
    assert fields >= {"minReplicas", "preemptibility"}


@pytest.mark.parametrize("known", [True, False])
def test_the_wizard_offers_it_where_the_scheduler_knows_it(
    known: bool, wizard: Wizard, on_kai: Project
) -> None:
    on_kai.cluster.capabilities_json["semi_preemptible"] = known
    on_kai.cluster.save()
    draft = wizard.ready()
    page = draft.open(draft.at(2)).page
    assert (f'<option value="{SEMI}"' in page) is known
