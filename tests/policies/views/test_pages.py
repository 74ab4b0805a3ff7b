"""The pages of policies show rules, versions and their authors to those who may see them."""

import pytest

from policies.models import Policy
from tests.factories import DataSourceFactory, ProjectFactory, UserFactory
from tests.policies.examples import EVERYTHING, default, make_policy, rule
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def test_the_list_has_policies_that_apply_to_a_project_of_the_reader() -> None:
    user = UserFactory()
    project = ProjectFactory(members=[user])
    make_policy(None, rule("numWorkers", max=8), name="of-all")
    make_policy(project.department, rule("numWorkers", max=8), name="of-mine")
    make_policy(ProjectFactory(), rule("numWorkers", max=8), name="of-others")
    page = signed_in(user).get("/policies/").content.decode()
    assert "of-all" in page
    assert f"Department {project.department.name}" in page
    assert "of-others" not in page


def test_a_list_without_policies_says_so() -> None:
    page = signed_in(UserFactory(administrator=True)).get("/policies/").content.decode()
    assert "No policies yet" in page


def test_a_policy_shows_each_rule_with_its_reason() -> None:
    project = ProjectFactory()
    DataSourceFactory(home=project, pk=EVERYTHING["imposedAssets"]["worker"][0])
    policy = make_policy(project, EVERYTHING)
    page = signed_in(UserFactory(administrator=True)).get(policy.get_absolute_url())
    rows = {(row.role, row.name, row.label): row for row in page.context["rows"]}
    assert len(rows) == len(policy.rules)
    most = rows["Workers", "compute.gpuDevicesRequest", "Maximum"]
    assert (most.value, most.rule.why, most.rule.may_override) == ("8", "A node has 8", True)
    factor = rows["Workers", "compute.cpuMemoryRequest", "Default from a field"]
    assert factor.value == "0.5 × compute.cpuMemoryLimit"
    assert ("Workers", "environmentVariables: NCCL_DEBUG", "Locked item") in rows
    assert ("Master", "storage.hostPath", "Items may be added") in rows
    assert [most.fills, rows["Master", "nodeType", "Default"].fills] == [False, True]
    assert "A node has 8" in page.content.decode()


def test_versions_show_what_changed_and_who_changed_it() -> None:
    project = ProjectFactory()
    make_policy(project, rule("numWorkers", max=8))
    author = UserFactory(administrator=True, username="grace")
    policy = make_policy(project, rule("numWorkers", max=4), by=author)
    page = signed_in(author).get(policy.get_absolute_url())
    newest, first = page.context["changes"]
    assert [tone for tone, _ in newest.lines if tone] == ["removed", "added"]
    assert newest.version.by == author
    assert first.lines == ()
    assert "by grace" in page.content.decode()


def test_no_page_shows_a_value_that_looks_secret() -> None:
    variable = {"name": "API_TOKEN", "value": "abracadabra"}
    policy = make_policy(None, default("environmentVariables.instances", [variable]))
    user = UserFactory()
    project = ProjectFactory(members=[user])
    for address in (policy.get_absolute_url(), f"/projects/{project.pk}/policy/"):
        page = signed_in(user).get(address).content.decode()
        assert "API_TOKEN" in page
        assert "abracadabra" not in page


def test_deleting_a_policy_asks_first() -> None:
    policy = make_policy(None, rule("numWorkers", max=8))
    client = signed_in(UserFactory(administrator=True))
    address = f"{policy.get_absolute_url()}delete/"
    assert b"Existing workloads stay as they are" in client.get(address).content
    assert client.post(address)["Location"] == "/policies/"
    assert not Policy.objects.exists()
