"""Access rules give roles to people and groups, in scopes that contain others, until a time."""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts import access, groups, roles, rules
from accounts.models import AccessRole, AccessRule, User, UserGroup
from accounts.permissions import ADMINISTRATOR
from accounts.services import reset_password, set_active
from core.deletion import InUse
from projects.models import Project
from projects.services import delete_project
from tests.factories import ProjectFactory, UserFactory, give

LAST = "At least one administrator"
NEW = "correct horse battery"


@pytest.fixture
def admin(db: None) -> User:
    return UserFactory.create(administrator=True)


@pytest.fixture
def user(db: None) -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def project(db: None) -> Project:
    return ProjectFactory.create(name="vision")


def role(name: str) -> AccessRole:
    return AccessRole.objects.get(name=name)


def test_a_role_in_a_department_holds_in_its_projects_alone(user: User, project: Project) -> None:
    other = ProjectFactory(cluster=project.cluster)
    give(user, "Department administrator", project.department.scope_keys[0])
    for action in ("projects.update", "templates.delete", "access-rules.create"):
        assert access.may(user, action, *project.scope_keys)
        assert not access.may(user, action, *other.scope_keys)
        assert not access.may(user, action, *project.cluster.scope_keys)
    assert not access.may_anywhere(user, "users.read")


def test_a_group_gives_its_roles_to_its_members(user: User, project: Project) -> None:
    group = UserGroup.objects.create(name="readers")
    group.people.add(user)
    give(group, "Viewer", project.scope_keys[0])
    assert access.may(user, "workloads.read", *project.scope_keys)
    assert list(project.members) == [user]
    group.people.clear()
    access.forget_rules(user)
    assert not access.may_anywhere(user, "workloads.read")


def test_a_rule_ends_at_its_time(user: User, project: Project) -> None:
    rule = give(user, "Viewer", project.scope_keys[0], until=timezone.now() + timedelta(hours=1))
    assert access.may_anywhere(user, "workloads.read")
    rule.until = timezone.now()
    rule.save()
    access.forget_rules(user)
    assert not access.may_anywhere(user, "workloads.read")
    assert user not in project.members


def test_a_rule_that_ended_can_be_given_again(admin: User, user: User, project: Project) -> None:
    viewer = role("Viewer")
    keys = project.scope_keys
    give(user, "Viewer", keys[0], until=timezone.now())
    rules.add_rule(user, viewer, by=admin, scope_keys=keys)
    with pytest.raises(ValidationError, match="has the role Viewer there already"):
        rules.add_rule(user, viewer, by=admin, scope_keys=keys)
    with pytest.raises(ValidationError, match="in the future"):
        rules.add_rule(admin, viewer, by=admin, scope_keys=keys, until=timezone.now())


def test_nobody_gives_a_role_that_permits_more_than_theirs(user: User, project: Project) -> None:
    department = project.department.scope_keys
    give(user, "Department administrator", department[0])
    friend = UserFactory.create()
    rules.add_rule(friend, role("L1 researcher"), by=user, scope_keys=project.scope_keys)
    for name, keys in (
        ("System administrator", department),
        ("Editor", department),  # it may create departments
        ("L1 researcher", project.cluster.scope_keys),
        ("L1 researcher", ()),
    ):
        with pytest.raises(PermissionDenied):
            rules.add_rule(friend, role(name), by=user, scope_keys=keys)


def test_the_last_administrator_keeps_the_role(admin: User, user: User) -> None:
    rule = AccessRule.objects.get(user=admin)
    with pytest.raises(ValidationError, match=LAST):
        rules.remove_rule(rule, by=admin)
    give(user, ADMINISTRATOR.name, access.ACCOUNT)
    rules.remove_rule(rule, by=admin)
    with pytest.raises(ValidationError, match=LAST):
        set_active(user, False, by=give_all(UserFactory.create(is_active=False)))


def give_all(user: User) -> User:
    give(user, ADMINISTRATOR.name, access.ACCOUNT)
    user.is_active = True  # only this object, not the row
    return user


def test_the_last_administrators_stay_in_their_group(admin: User) -> None:
    group = groups.create_group(by=admin, name="staff", people=[admin])
    give(group, ADMINISTRATOR.name, access.ACCOUNT)
    AccessRule.objects.filter(user=admin).delete()
    access.forget_rules(admin)
    with pytest.raises(ValidationError, match=LAST):
        groups.update_group(group, by=admin, people=[])
    assert list(group.people.all()) == [admin]


def test_a_manager_of_users_cannot_act_as_an_administrator(admin: User, user: User) -> None:
    helper = roles.create_role(by=admin, name="Helper", permission_sets=["manage-users"])
    give(user, helper.name, access.ACCOUNT)
    reset_password(UserFactory.create(), NEW, by=user)
    with pytest.raises(PermissionDenied):
        reset_password(admin, NEW, by=user)
    former = UserFactory.create(administrator=True, is_active=False)
    with pytest.raises(PermissionDenied):
        reset_password(former, NEW, by=user)
    with pytest.raises(PermissionDenied):
        set_active(former, True, by=user)


def test_a_role_is_the_union_of_permission_sets(admin: User, user: User) -> None:
    sets = ["view-projects", "manage-workloads"]
    custom = roles.create_role(by=admin, name="Runner", permission_sets=sets)
    assert roles.sets_of(custom) == sets
    give(user, "Runner", access.ACCOUNT)
    assert access.may(user, "workloads.delete")
    roles.update_role(
        custom, by=admin, name="Runner", description="", permission_sets=["view-projects"]
    )
    access.forget_rules(user)
    assert not access.may_anywhere(user, "workloads.delete")
    with pytest.raises(
        InUse, match=f"Runner is in use by access rules: {user} is Runner in account"
    ):
        roles.delete_role(custom, by=admin)
    AccessRule.objects.filter(role=custom).delete()
    roles.delete_role(custom, by=admin)
    assert not AccessRole.objects.filter(name="Runner").exists()


@pytest.mark.parametrize(
    ("name", "sets", "words"),
    [
        ("Viewer", ["view-projects"], "already exists"),
        ("Runner", [], "at least one permission"),
        ("Runner", ["fly"], "no permission set fly"),
        ("Runner", [""], "no permission set without an ID"),
        ("", ["view-projects"], "cannot be blank"),
    ],
)
def test_a_wrong_role_is_refused(admin: User, name: str, sets: list[str], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        roles.create_role(by=admin, name=name, permission_sets=sets)


def test_predefined_roles_do_not_change(admin: User) -> None:
    with pytest.raises(ValidationError, match="cannot be changed"):
        roles.update_role(
            role("Viewer"), by=admin, name="V", description="", permission_sets=["view-users"]
        )
    with pytest.raises(InUse, match="cannot be changed"):
        roles.delete_role(role("Viewer"), by=admin)


def test_nobody_makes_a_role_that_permits_more_than_theirs(admin: User, user: User) -> None:
    roles.create_role(by=admin, name="Roles", permission_sets=["manage-roles"])
    give(user, "Roles", access.ACCOUNT)
    with pytest.raises(PermissionDenied, match="permits more than you may do"):
        roles.create_role(by=user, name="More", permission_sets=["manage-users"])


def test_the_rules_of_a_deleted_project_are_gone(
    admin: User, user: User, project: Project, sent: list[object]
) -> None:
    give(user, "Viewer", project.scope_keys[0])
    delete_project(project, by=admin)
    assert not AccessRule.objects.filter(user=user).exists()


def test_a_refusal_names_who_may(admin: User, user: User, project: Project) -> None:
    give(user, "Viewer", project.scope_keys[0])
    chief = UserFactory.create(username="grace")
    give(chief, "Department administrator", project.department.scope_keys[0])
    with pytest.raises(PermissionDenied, match=f"Ask {admin} or grace for it"):
        access.require(user, "projects.update", *project.scope_keys)
    with pytest.raises(PermissionDenied, match=f"Ask {admin} for it"):
        access.require(user, "users.read")
