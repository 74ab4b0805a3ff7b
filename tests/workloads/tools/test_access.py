"""Who may open a tool, and what the page says of it."""

from typing import Any

import pytest

from accounts import groups
from accounts.models import User
from engines.fake import FakeEngine
from spec.tools import served_tools
from tests.factories import UserFactory, add_members, remove_members
from tests.web import HTMX, signed_in
from tests.workloads.own import use_own_credential
from tests.workloads.tools.conftest import serve
from workloads.models import Workload
from workloads.tools import access

pytestmark = pytest.mark.django_db


def may(user: User, workload: Workload) -> bool:
    return access.find_usable_tool(user, workload.pk, "my-notebook") is not None


def test_a_tool_without_a_rule_is_open_to_readers_of_the_workload(
    served: Workload, member: User, stranger: User, administrator: User
) -> None:
    assert may(member, served)
    assert may(administrator, served)
    assert not may(stranger, served)


@pytest.mark.parametrize(
    "rule",
    [
        {"authorizationType": "authenticatedUsers"},
        {"authorizationType": "authorizedUsers", "authorizedUsers": ["stranger"]},
        {"authorizationType": "authorizedGroups", "authorizedGroups": ["reviewers"]},
    ],
)
def test_a_rule_lets_in_whom_it_names(
    workload: Workload, member: User, stranger: User, rule: dict[str, Any]
) -> None:
    tool = {"name": "My Notebook", "containerPort": 8888}
    serve(workload, tool | rule)
    groups.set_provided_groups(stranger, ["reviewers"])
    assert may(stranger, workload)
    assert may(member, workload), "who made the workload always gets in"
    everyone = rule["authorizationType"] == "authenticatedUsers"
    assert may(UserFactory(), workload) is everyone


@pytest.mark.parametrize("kind", ["", "authenticatedUsers"])
def test_tools_are_for_the_author_alone_where_the_authors_own_credentials_are(
    engine: FakeEngine, workload: Workload, member: User, stranger: User, kind: str
) -> None:
    rule = {"authorizationType": kind} if kind else {}
    serve(workload, {"name": "My Notebook", "containerPort": 8888} | rule)
    use_own_credential(workload)
    colleague: User = UserFactory()
    add_members(workload.project, colleague)
    assert may(member, workload)
    assert not may(colleague, workload)
    connect = f"/workloads/{workload.pk}/connect/"
    why = "belong to maria alone"
    page = signed_in(colleague).get(connect).content.decode()
    assert why in page
    assert "Only maria" in page
    assert "target=" not in page
    assert why not in signed_in(member).get(connect).content.decode()
    for address in (f"{connect}my-notebook/", f"/tools/signin/{workload.pk}/my-notebook/"):
        for user in [colleague, stranger] if kind else [colleague]:
            answer = signed_in(user).get(address)
            assert answer.status_code == 403
            assert why in answer.content.decode()


@pytest.mark.parametrize(
    "rule", [{}, {"authorizationType": "authorizedUsers", "authorizedUsers": ["x"]}]
)
def test_a_former_member_cannot_open_tools_that_they_created(
    workload: Workload, member: User, rule: dict[str, Any]
) -> None:
    serve(workload, {"name": "My Notebook", "containerPort": 8888} | rule)
    assert may(member, workload)
    remove_members(workload.project, member)
    assert not may(User.objects.get(pk=member.pk), workload)


def test_unknown_tools_and_those_of_deleted_workloads_are_not_found(
    served: Workload, member: User
) -> None:
    assert access.find_usable_tool(member, served.pk, "other") is None
    Workload.objects.update(deleted_at=served.created_at)
    assert not may(member, served)


@pytest.mark.parametrize(
    ("named", "others", "is_let_in"),
    [
        ("Stranger@Example.com", {}, True),
        ("stranger@example.org", {}, False),
        ("stranger@example.com", {"email": "STRANGER@example.com"}, False),
        ("stranger@example.com", {"email": "stranger@example.com", "is_active": False}, True),
        ("stranger@example.com", {"username": "stranger@example.com"}, False),
    ],
    ids=["in any case", "another", "of two", "of one who left", "the name of another"],
)
def test_an_email_address_lets_in_whom_alone_it_can_mean(
    workload: Workload, stranger: User, named: str, others: dict[str, Any], is_let_in: bool
) -> None:
    rule = {"authorizationType": "authorizedUsers", "authorizedUsers": [named]}
    serve(workload, {"name": "My Notebook", "containerPort": 8888} | rule)
    stranger.email = "stranger@example.com"
    stranger.save()
    if others:
        UserFactory(**others)
    assert may(stranger, workload) is is_let_in


def test_an_address_lets_in_who_has_it_now(workload: Workload, stranger: User) -> None:
    named = {"authorizationType": "authorizedUsers", "authorizedUsers": ["oncall@example.com"]}
    serve(workload, {"name": "My Notebook", "containerPort": 8888} | named)
    before = stranger
    after = UserFactory()
    User.objects.filter(pk=before.pk).update(email="oncall@example.com")
    assert may(User.objects.get(pk=before.pk), workload)
    User.objects.filter(pk=before.pk).update(email="")
    User.objects.filter(pk=after.pk).update(email="oncall@example.com")
    assert not may(User.objects.get(pk=before.pk), workload)
    assert may(User.objects.get(pk=after.pk), workload)


def test_users_cannot_change_their_own_email_address(stranger: User) -> None:
    client = signed_in(stranger)
    add = {"action_add": "", "email": "member@example.com"}
    assert client.post("/accounts/email/", add).status_code == 404
    assert not User.objects.get(pk=stranger.pk).email


def test_strangers_find_neither_the_connect_page_nor_the_tool(
    served: Workload, stranger: User
) -> None:
    client = signed_in(stranger)
    assert client.get(f"/workloads/{served.pk}/connect/").status_code == 404
    assert client.get(f"/workloads/{served.pk}/connect/my-notebook/").status_code == 404


def test_the_connect_page_and_the_menu_of_a_workload_list_its_tools(
    served: Workload, member: User
) -> None:
    client = signed_in(member)
    page = client.get(f"/workloads/{served.pk}/connect/").content.decode()
    assert "My Notebook" in page
    assert "Members of team-a" in page
    assert f'href="/workloads/{served.pk}/connect/my-notebook/" target="_blank"' in page
    assert "/connect/" in client.get(f"/workloads/{served.pk}/menu/", **HTMX).content.decode()
    served.ranks.update(phase="Pending")
    page = client.get(f"/workloads/{served.pk}/connect/").content.decode()
    assert "can be opened while master-0 runs" in page
    assert "target=" not in page


def test_the_connect_page_says_who_reaches_an_unguarded_port(
    served: Workload,
) -> None:
    """Also where the workload itself is open to its author alone."""
    use_own_credential(served)
    colleague: User = UserFactory()
    add_members(served.project, colleague)
    guarded = {"name": "lab", "containerPort": 8888}
    port = {"name": "port", "containerPort": 8889, "connectionType": "NodePort"}
    client = signed_in(colleague)
    why = "Tools not available"
    for tools, explained in ([guarded, port], True), ([port], False):
        serve(served, *tools)
        page = client.get(f"/workloads/{served.pk}/connect/").content.decode()
        assert "Anyone who reaches its port" in page
        assert (why in page, "Only maria" in page) == (explained, explained)


def test_the_menu_of_a_workload_without_tools_has_no_connect_button(
    workload: Workload, member: User
) -> None:
    menu = signed_in(member).get(f"/workloads/{workload.pk}/menu/", **HTMX).content.decode()
    assert "/connect/" not in menu


def test_a_browser_elsewhere_is_told_what_to_configure(
    engine: FakeEngine, served: Workload, member: User
) -> None:
    answer = signed_in(member).get(f"/workloads/{served.pk}/connect/my-notebook/")
    assert answer.status_code == 409
    assert "TOOLS_DOMAIN" in answer.content.decode()


def test_a_masters_own_tools_and_those_of_the_workers(workload: Workload) -> None:
    part = workload.spec_json["worker"]
    two = [{"name": "TB", "containerPort": 6006}, {"name": "tb", "containerPort": 6007}]
    workload.spec_json["master"] = {**part, "connections": two}
    part["connections"] = [{"name": "Jupyter Lab!", "containerPort": 8888}]
    found = [(tool.slug, tool.pod.rank, tool.field) for tool in served_tools(workload.spec)]
    assert found == [
        ("tb", 0, "master.connections[0]"),
        ("tb-2", 0, "master.connections[1]"),
        ("jupyter-lab", 1, "worker.connections[0]"),
    ]
