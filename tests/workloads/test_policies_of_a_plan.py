"""A plan has the defaults of policies below all other values, and what they impose above them."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.kind import WorkloadKind
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    ProjectFactory,
    UserFactory,
)
from tests.policies.examples import default, make_policy, nest, rule
from workloads.plan import Plan, plan

pytestmark = pytest.mark.django_db
MEMORY = "compute.cpuMemoryRequest"


@pytest.fixture
def member() -> User:
    return UserFactory()


@pytest.fixture
def project(member: User) -> Project:
    return ProjectFactory(members=[member], name="team-a")


def planned(project: Project, by: User, *, wide: Any = None, **content: Any) -> Plan:
    assets = content.pop("assets", {})
    worker = ReplicaDraft(values={"image": "x:1", **content}, assets=assets)
    place = {"cluster": project.cluster_id, "project": project.pk}
    draft = WorkloadDraft(name="train", worker=worker, values=wide or {}, **place)
    return plan(draft, by=by)


def test_a_default_is_below_assets_and_own_values(project: Project, member: User) -> None:
    policy = make_policy(project.department, default(MEMORY, "300M"))
    found = planned(project, member)
    assert found.document["worker"]["compute"]["cpuMemoryRequest"] == "300M"
    assert found.origins["worker.compute"] == policy.source.label
    small = ComputeResourceFactory(
        scope="project", project=project, spec_json={"cpuMemoryRequest": "200M"}
    )
    found = planned(project, member, assets={"compute": small.pk})
    assert found.document["worker"]["compute"]["cpuMemoryRequest"] == "200M"
    found = planned(project, member, compute={"cpuMemoryRequest": "100M"})
    assert found.document["worker"]["compute"]["cpuMemoryRequest"] == "100M"


def test_a_default_item_is_removed_like_that_of_an_asset(project: Project, member: User) -> None:
    items = [{"name": "A", "value": "1", "description": "why"}, {"name": "B", "value": "2"}]
    make_policy(project, default("environmentVariables.instances", items))
    own = [{"name": "A", "exclude": True}, {"name": "C", "value": "3"}]
    found = planned(project, member, environmentVariables=own)
    assert [it["name"] for it in found.document["worker"]["environmentVariables"]] == ["B", "C"]
    assert found.spec


def test_a_default_of_the_workload_is_one_of_its_kind(project: Project, member: User) -> None:
    make_policy(project, default("numWorkers", 2))
    assert planned(project, member).document["numWorkers"] == 2
    assert planned(project, member, wide={"numWorkers": 1}).document["numWorkers"] == 1
    make_policy(project, {"defaults": {"category": "eval"}}, kind=WorkloadKind.TRAINING)
    assert "category" not in planned(project, member).document


def test_an_imposed_data_source_may_be_added_and_not_replaced(
    project: Project, member: User
) -> None:
    share = DataSourceFactory(scope="account", cluster=None, project=None)
    limits = nest("storage.nfs.instances", {"canAdd": False})
    tree = {"rules": {"worker": limits}, "imposedAssets": {"worker": [str(share.pk)]}}
    policy = make_policy(project, tree)
    found = planned(project, member)
    (mount,) = found.document["worker"]["storage"]["nfs"]
    assert [problem for problem in found.problems if problem.source] == []
    assert found.linked_assets == [("worker", "data-source", share.pk)]
    own = {"server": "mine.example.com", "path": "/x", "mountPath": mount["mountPath"]}
    found = planned(project, member, storage={"nfs": [own]})
    assert found.document["worker"]["storage"]["nfs"] == [mount]
    (problem,) = [problem for problem in found.problems if problem.source]
    assert (problem.field, problem.source) == ("worker.storage.nfs.0", policy.source.label)


def test_a_value_that_the_spec_fills_in_is_judged_too(project: Project, member: User) -> None:
    make_policy(project, rule("backoffLimit", max=3))
    (problem,) = planned(project, member).problems
    assert (problem.field, problem.rule) == ("backoffLimit", "max")
    assert planned(project, member, wide={"backoffLimit": 2}).is_submittable


def test_policies_of_other_projects_and_kinds_do_not_count(project: Project, member: User) -> None:
    make_policy(ProjectFactory(), rule("numWorkers", max=0))
    make_policy(None, {"rules": {"backoffLimit": {"max": 1}}}, kind=WorkloadKind.WORKSPACE)
    assert planned(project, member).is_submittable
