"""Who may do what, and where: every permission, by every role, in every scope."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from pytest_django import DjangoAssertNumQueries

from accounts import access
from accounts.access import ACCOUNT
from accounts.models import User
from accounts.permissions import ADMINISTRATOR, PERMISSIONS
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, add_members, give

ASSETS = ("environments", "compute-resources", "data-sources", "credentials", "templates")
#: What a researcher may do in the projects they are a member of. Nothing anywhere else.
OF_A_RESEARCHER = {
    "clusters.read",
    "projects.read",
    "policies.read",
    *(
        f"{resource}.{action}"
        for resource in (*ASSETS, "workloads", "webhooks")
        for action in ("read", "create", "update", "delete")
    ),
}
PEOPLE = ("administrator", "administrator and member", "member", "stranger", "locked", "nobody")
EVERYWHERE = {"administrator", "administrator and member"}


@pytest.fixture
def project(db: None) -> Project:
    return ProjectFactory()


@pytest.fixture
def other(db: None) -> Project:
    return ProjectFactory()


def person(name: str, project: Project) -> User | AnonymousUser:
    if name == "nobody":
        return AnonymousUser()
    user = UserFactory(administrator="administrator" in name, is_active=name != "locked")
    if "member" in name or name == "locked":
        add_members(project, user)
    return user


@pytest.mark.parametrize("who", PEOPLE)
def test_each_role_has_its_permissions_in_each_scope(
    who: str, project: Project, other: Project
) -> None:
    user = person(who, project)
    everywhere = who in EVERYWHERE
    department = project.department.scope_keys
    cluster = project.cluster.scope_keys
    for action in sorted(PERMISSIONS):
        in_project = everywhere or (who == "member" and action in OF_A_RESEARCHER)
        assert access.may(user, action) is everywhere, action
        assert access.may(user, action, *cluster) is everywhere, action
        assert access.may(user, action, *department) is everywhere, action
        assert access.may(user, action, *other.scope_keys) is everywhere, action
        assert access.may(user, action, *project.scope_keys) is in_project, action
        assert access.may_anywhere(user, action) is in_project, action


@pytest.mark.parametrize(
    ("who", "scopes"),
    [
        ("administrator and member", {ACCOUNT}),
        ("member", {"project:{}"}),
        ("stranger", set()),
        ("nobody", set()),
    ],
)
def test_grants_are_keys_of_scopes(who: str, scopes: set[str], project: Project) -> None:
    user = person(who, project)
    assert access.permitted_scopes(user, "workloads.read") == {
        key.format(project.pk) for key in scopes
    }


@pytest.mark.parametrize("action", ["users.read", "roles.create", "audit.read", "settings.update"])
def test_what_belongs_to_the_account_takes_a_role_in_the_account(
    project: Project, action: str
) -> None:
    user = UserFactory.create()
    give(user, ADMINISTRATOR.name, project.department.scope_keys[0])
    assert access.may(user, "projects.delete", *project.scope_keys)
    assert not access.may_anywhere(user, action)
    give(user, ADMINISTRATOR.name, ACCOUNT)
    assert access.may_anywhere(user, action)


def test_a_permission_that_does_not_exist_is_nobodys(db: None) -> None:
    with pytest.raises(ValueError, match=r"no permission cluster\.update"):
        access.may(UserFactory(administrator=True), "cluster.update")


def test_a_refusal_names_the_permission(project: Project) -> None:
    with pytest.raises(PermissionDenied, match=r"the permission projects\.update"):
        access.require(person("member", project), "projects.update", *project.scope_keys)
    access.require(person("administrator", project), "projects.update", *project.scope_keys)


def test_a_filter_reaches_what_the_scopes_hold(project: Project, other: Project) -> None:
    def reached(who: str, **columns: str) -> set[Project]:
        filter_ = access.permitted_rows(person(who, project), "projects.read", **columns)
        return set(Project.objects.filter(filter_))

    assert reached("administrator", project="pk") == {project, other}
    assert reached("member", project="pk") == {project}
    assert reached("stranger", project="pk") == set()
    assert reached("member", cluster="cluster") == set()  # holds no row by a project
    assert access.permitted_rows(person("administrator", project), "projects.read") == Q()


def test_rules_are_read_once_for_a_request(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    user = User.objects.get(pk=UserFactory().pk)
    with django_assert_num_queries(1):
        for action in OF_A_RESEARCHER:
            assert not access.may_anywhere(user, action)
    add_members(project, user)
    access.forget_rules(user)
    assert access.may_anywhere(user, "workloads.read")


def test_users_with_a_permission_everywhere_are_listed(project: Project) -> None:
    administrator = person("administrator", project)
    person("member", project)
    UserFactory(administrator=True, is_active=False)
    assert list(access.permitted_users("users.update")) == [administrator]
