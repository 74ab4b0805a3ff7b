"""Policies are simulated by REST, and one that refuses everything is saved only if confirmed."""

from typing import Any

import pytest

from policies.models import Policy
from projects.models import Project
from tests.caller import Caller
from tests.factories import UserFactory, add_members
from tests.policies.examples import rule
from tests.workloads.policies.projects import roomy_project
from tests.workloads.policies.shapes import POLICY, submit_shapes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
SIMULATE = "/policies/simulate"
NOTHING = rule("image", startsWith="other/")


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory.create(administrator=True))


@pytest.fixture
def project(admin: Caller) -> Project:
    project = roomy_project()
    submit_shapes(project, admin.user, 3)
    return project


def body(project: Project, tree: Any) -> dict[str, Any]:
    meta = {"name": "limits", "scope": "project", "projectId": project.pk}
    return {"meta": meta, "policy": tree}


def simulation(project: Project, tree: Any) -> dict[str, Any]:
    return body(project, tree) | {"workloadType": "distributed"}


def test_a_simulation_says_what_happens_to_each_workload(admin: Caller, project: Project) -> None:
    status, answer = admin("POST", SIMULATE, simulation(project, POLICY))
    assert status == 200, answer
    rows = {row["workloadName"]: row for row in answer["workloads"]}
    assert list(rows) == ["shape-2", "shape-1", "shape-0"]
    refused = rows["shape-1"]
    assert (refused["outcome"], refused["refusedAlready"]) == ("refused", False)
    (problem,) = refused["problems"]
    assert problem["field"] == "worker.image"
    assert problem["source"] == f"policy limits of Project {project.name}"
    changed = rows["shape-0"]
    assert {"field": "backoffLimit", "before": 6, "after": 2} in changed["changes"]
    assert answer["counts"] == {"refused": 1, "changed": 2, "unchanged": 0}
    assert not Policy.objects.exists()


def test_a_wrong_policy_is_refused_with_every_problem(admin: Caller, project: Project) -> None:
    status, answer = admin("POST", SIMULATE, simulation(project, rule("numWorkers", max="many")))
    assert status == 400
    (issue,) = answer["complianceIssues"]
    assert issue["field"] == "policy.rules.worker.numWorkers.max"


def test_members_may_not_simulate(project: Project) -> None:
    member = UserFactory.create()
    add_members(project, member)
    status, answer = Caller(member)("POST", SIMULATE, simulation(project, POLICY))
    assert status == 403
    assert "policies.create" in answer["message"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_policy_that_refuses_everything_needs_confirm(
    admin: Caller, project: Project, method: str
) -> None:
    status, answer = admin(method, "/policy/distributed", body(project, NOTHING))
    assert status == 409
    assert "refuses all" in answer["message"]
    assert "confirm=true" in answer["details"]
    assert not Policy.objects.exists()
    confirmed = "/policy/distributed?confirm=true"
    assert admin(method, confirmed, body(project, NOTHING))[0] == 200
    assert Policy.objects.exists()
