"""A plan lays an environment, a compute resource and its user's values over each other."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.problems.errors import SpecError
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    add_members,
)
from workloads import services
from workloads.detail import spec as spec_tab
from workloads.plan import Plan, plan

pytestmark = pytest.mark.django_db

BOARD = {"name": "board", "containerPort": 6006, "connectionType": "ClusterIP"}
NOTEBOOK = {"name": "notebook", "containerPort": 8888, "connectionType": "ClusterIP"}
DEVICE = {"resource": "example.com/nic", "quantity": "1"}


@pytest.fixture
def project() -> Project:
    return ProjectFactory()


@pytest.fixture
def member(project: Project) -> User:
    user: User = UserFactory()
    add_members(project, user)
    return user


@pytest.fixture
def worker(project: Project) -> ReplicaDraft:
    environment = {
        "image": "x:1",
        "connections": [BOARD, NOTEBOOK],
        "environmentVariables": [{"name": "A", "value": "1"}],
    }
    compute = {"cpuCoreRequest": 1.0, "extendedResources": [DEVICE]}
    chosen = {
        "environment": EnvironmentFactory(home=project, name="env", spec_json=environment).pk,
        "compute": ComputeResourceFactory(home=project, name="small", spec_json=compute).pk,
    }
    return ReplicaDraft(assets=chosen)


def draft(project: Project, worker: ReplicaDraft, **also: Any) -> WorkloadDraft:
    return WorkloadDraft(
        name="train",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=worker,
        **also,
    )


def planned(project: Project, member: User, worker: ReplicaDraft, **values: Any) -> Plan:
    return plan(draft(project, worker.model_copy(update={"values": values})), by=member)


def test_an_item_of_the_users_wipes_nothing_of_the_assets(
    project: Project, member: User, worker: ReplicaDraft
) -> None:
    mine = {"name": "app", "containerPort": 80, "connectionType": "ClusterIP"}
    other = {"resource": "example.com/other", "quantity": "2"}
    made = planned(
        project,
        member,
        worker,
        connections=[mine],
        compute={"extendedResources": [other], "cpuCoreRequest": 0.2},
    )
    assert made.spec
    assert [tool.name for tool in made.spec.worker.connections] == ["board", "notebook", "app"]
    resources = [it.resource for it in made.spec.worker.compute.extended_resources]
    assert resources == ["example.com/nic", "example.com/other"]
    origins = {key: origin for key, origin in made.origins.items() if "[" in key}
    assert origins == {
        "worker.connections[0]": "environment env",
        "worker.connections[1]": "environment env",
        "worker.compute.extendedResources[0]": "compute resource small",
    }


def test_exclude_takes_an_item_of_the_environment_away(
    project: Project, member: User, worker: ReplicaDraft
) -> None:
    out = [{"name": "board", "exclude": True}]
    made = planned(project, member, worker, connections=out)
    assert made.spec
    assert [tool.name for tool in made.spec.worker.connections] == ["notebook"]


def test_a_refusal_names_the_item_that_the_user_gave(
    project: Project, member: User, worker: ReplicaDraft
) -> None:
    wrong = [{"name": "board", "exclude": True}, {"name": "app", "containerPort": 0}]
    made = planned(project, member, worker, connections=wrong)
    assert made.problems[0].path == ("worker", "connections", 1, "containerPort")
    made = planned(project, member, worker, connections=wrong[1:])
    assert made.problems[0].path[2] == 2, "behind those of the environment"
    with pytest.raises(SpecError) as refused:
        made.require_ready()
    assert refused.value.problems[0].path == ("worker", "connections", 0, "containerPort")


def test_each_item_of_a_workload_tells_which_layer_it_came_from(
    project: Project, member: User, worker: ReplicaDraft
) -> None:
    of_template = {"name": "T", "value": "1"}
    document = {"worker": {"values": {"environmentVariables": [of_template]}}}
    template = TemplateFactory(home=project, name="base", draft_json=document)
    variables = [of_template, {"name": "B", "value": "2"}]
    small = ComputeResourceFactory(home=project).pk
    assets = worker.assets | {"compute": small}
    values = {"assets": assets, "values": {"environmentVariables": variables}}
    worker = worker.model_copy(update=values)
    made = services.submit(draft(project, worker, template=template.pk), by=member)
    told = {value.text: value.origin for value in spec_tab.field_values(made)}
    assert told["A = 1"] == "environment env"
    assert told["T = 1"] == "template base"
    assert told["B = 2"] == "user"
