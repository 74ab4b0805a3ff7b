"""What predefined roles may do in their own department and in another one: generated from the
permissions of their rows, the pages, and the calls of the OpenAPI document."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.access import ACCOUNT
from accounts.models import AccessRole, User
from accounts.permissions import ADMINISTRATOR, PREDEFINED_ROLES
from tests.access.asking import Asker, calls, pages
from tests.access.needs import ANYONE, NOBODY, OWNER, SIGNED_IN, need_of_call, need_of_page
from tests.access.population import QUERIES, Population
from tests.factories import IMAGE, ProjectFactory, UserFactory, give

pytestmark = pytest.mark.django_db
ROLES = [role.name for role in PREDEFINED_ROLES]
DONE = {"+", "?", "!"}  # with "refused for what was sent": the bodies of some calls are made up
#: What may answer otherwise: a test of a connection is for who asked for it, This machine is not
#: edited, departments belong to the cluster, and the body of a project names another department.
ABSENT_OR_WIDER = {
    "clusters/<uuid:pk>/edit/": {"4"},
    "clusters/tests/<uuid:pk>/": {"4"},
    "/api/v1/cluster-tests/{test_id}": {"4"},
    "/api/v1/org-unit/departments": {"3"},
    "/api/v1/org-unit/projects": {"3"},
    "/api/v1/org-unit/projects/{project_id}": {"3"},
}
BATCH = "/api/v1/workloads/batch"  # has an answer for each workload
EACH = pytest.mark.parametrize("name", ROLES)
#: Roles that differ most in what they permit: each permission is in some of them and missing in
#: others. ``test_asset_roles`` has those that manage one kind of asset.
WIDE_ROLES = ["Department administrator", "Editor"]
UNLIKE_ROLES = [ADMINISTRATOR.name, *WIDE_ROLES, "L2 researcher", "Credentials administrator"]


def requests() -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind of each request, its method and path, and what it takes."""
    for route in pages():
        for method in ("GET", "POST"):
            yield "page", method, route, need_of_page(route, method)
    for path, method in calls():
        yield "call", method, path, need_of_call(path, method)


def names_an_object(path: str) -> bool:
    return "<" in path or "{" in path + QUERIES.get(path, "")


def own_signs(need: str, permissions: set[str], path: str) -> set[str]:
    """Return the right answers about objects of the department where someone has a role."""
    if need in {ANYONE, SIGNED_IN}:
        return DONE | {"1"}  # a form that signs out leads to the page that signs in
    if need in {OWNER, NOBODY}:
        return {"1", "4"}
    if need in permissions:
        return DONE | ABSENT_OR_WIDER.get(path, set())
    resource, _, action = need.partition(".")
    is_visible = action != "read" and f"{resource}.read" in permissions
    return {"3"} if is_visible else {"3", "4"}


def foreign_signs(need: str, permissions: set[str], path: str) -> set[str]:
    """Return the right answers about objects of another department."""
    if path == BATCH:
        return DONE
    if need not in permissions:
        return own_signs(need, permissions, path) | {"4", "?"}
    if names_an_object(path):
        return {"4"}
    return {*DONE, "3", "4"}  # their own department may be meant, or what the body names


def ask_everything(
    asker: Asker,
    who: str,
    permissions: set[str],
    expected_signs: Callable[[str, set[str], str], Collection[str]],
) -> None:
    """Send each request as a person with these permissions, and compare the signs of the
    answers."""
    wrong = []
    for kind, method, path, need in requests():
        ask = asker.page if kind == "page" else asker.call
        sign = ask(who, method, path)
        if sign != "5" and sign not in expected_signs(need, permissions, path):
            wrong.append(f"{kind} {method} {path}: {sign}, and it takes {need}")
    assert not wrong, "\n".join(wrong)
    assert not asker.faults, "\n".join(asker.faults)


@pytest.mark.extended
@pytest.mark.parametrize("name", UNLIKE_ROLES)
def test_a_role_does_in_its_department_what_its_row_permits(
    name: str, population: Population
) -> None:
    permissions = set(AccessRole.objects.get(name=name).permissions)
    user = UserFactory.create()
    is_administrator = name == ADMINISTRATOR.name
    give(user, name, ACCOUNT if is_administrator else population.project.department.scope_keys[0])
    asker = Asker(population)
    asker.add("own", user)
    ask_everything(asker, "own", permissions, own_signs)


@pytest.mark.extended
@pytest.mark.parametrize("name", WIDE_ROLES)
def test_a_role_does_nothing_in_another_department(name: str, population: Population) -> None:
    permissions = set(AccessRole.objects.get(name=name).permissions)
    user = UserFactory.create()
    give(user, name, ProjectFactory.create().department.scope_keys[0])
    asker = Asker(population)
    asker.add("foreign", user)
    ask_everything(asker, "foreign", permissions, foreign_signs)


@EACH
def test_each_role_submits_where_its_row_permits(
    name: str, valkey: object, sent: list[Any]
) -> None:
    project = ProjectFactory.create()
    user: User = UserFactory.create()
    give(user, name, project.department.scope_keys[0])
    headers = {"Authorization": f"Bearer {tokens.access_token_for(user)}"}
    spec = {"image": IMAGE, "numWorkers": 1, "distributedFramework": "PyTorch"}
    ids = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    response = Client().post(
        "/api/v1/workloads/distributed",
        json.dumps({"name": "a-run", **ids, "spec": spec}),
        "application/json",
        headers=headers,
    )
    may = "workloads.create" in AccessRole.objects.get(name=name).permissions
    assert (response.status_code == 202) is may, response.content
