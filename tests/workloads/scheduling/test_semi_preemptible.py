"""Semi-preemptible: the minimum of workers is guaranteed where the scheduler knows that."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats.draft_yaml import Names, write_draft_yaml
from tests.caller import Caller
from tests.trainyard_cli.receiver import Receiver, receiver
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.conftest import on_kubernetes, owner, project, wizard
from trainyard_cli.flags.line import command_line
from workloads.api.bodies import DistributedIn
from workloads.api.submissions.distributed import draft_of
from workloads.models import Workload
from workloads.plan import Plan, plan
from workloads.scheduling.fit.judge import Answer

__all__ = ["on_kubernetes", "owner", "project", "receiver", "wizard"]
pytestmark = pytest.mark.django_db
SEMI = "semi-preemptible"
POSSIBLE = "needs a Kubernetes cluster whose KAI scheduler knows semi-preemptible"
SPEC: dict[str, Any] = {
    "image": "x:1",
    "command": "true",
    "numWorkers": 4,
    "minReplicas": 2,
    "preemptibility": SEMI,
    "distributedFramework": "PyTorch",
}


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
    assert ("Semi-preemptible is for clusters whose KAI scheduler knows it" in page) is not known


def draft_of_request(project: Project, owner: User) -> WorkloadDraft:
    return draft_of(DistributedIn.model_validate(request(project)), by=owner)


def request(project: Project) -> dict[str, Any]:
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    return {"name": "train", **place, "noMaster": True, "spec": SPEC}


def test_rest_the_command_line_and_yaml_say_where_it_is_possible(
    project: Project, owner: User, wizard: Wizard, receiver: Receiver
) -> None:
    body = request(project)
    line = command_line({"name": "train", "spec": SPEC}, "distributed", "team-a")
    typed = receiver.request(line) | {key: body[key] for key in ("projectId", "clusterId")}
    for sent in (body, typed):
        status, answer = Caller(owner)("POST", "/workloads/distributed", sent)
        issues = {issue["field"]: issue["details"] for issue in answer["complianceIssues"]}
        assert status == 400
        assert POSSIBLE in issues["spec.preemptibility"]
    text = write_draft_yaml(draft_of_request(project, owner), Names())
    wizard.open("/workloads/new/?yaml").press("", yaml=text)
    wizard.open(wizard.at(3)).press("create")
    assert POSSIBLE in wizard.page
    assert not Workload.objects.exists()
