"""A project shows what holds in it, and the policy that each rule comes from."""

import pytest

from spec.kind import WorkloadKind
from tests.factories import ProjectFactory, UserFactory
from tests.policies.examples import default, make_policy, rule
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def test_a_project_shows_rules_with_the_policies_they_come_from() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    make_policy(None, rule("numWorkers", max=8, why="One rack"), name="wide")
    make_policy(project, default("numWorkers", 2), name="near")
    page = signed_in(user).get(f"/projects/{project.pk}/policy/")
    (row,) = page.context["rows"]
    assert (row.role, row.name, row.type, row.default) == (
        "Workers",
        "numWorkers",
        "whole number",
        "2",
    )
    text = page.content.decode()
    assert "Maximum" in text
    assert "One rack" in text
    assert "policy wide of the account" in text
    assert f"policy near of Project {project.name}" in text


def test_each_kind_of_workload_has_its_own() -> None:
    project = ProjectFactory()
    workspace = {"defaults": {"image": "jupyter"}}
    make_policy(project, workspace, kind=WorkloadKind.WORKSPACE)
    client = signed_in(UserFactory(administrator=True))
    address = f"/projects/{project.pk}/policy/"
    assert "No rules here" in client.get(address).content.decode()
    (row,) = client.get(f"{address}?kind=workspace").context["rows"]
    assert (row.role, row.name, row.default) == ("", "image", "jupyter")


def test_the_page_of_a_project_leads_to_its_policy() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    page = signed_in(user).get(project.get_absolute_url()).content.decode()
    assert f"/projects/{project.pk}/policy/" in page
