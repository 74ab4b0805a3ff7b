"""Who has access to a scope, and what a person may do, on pages."""

from datetime import timedelta

import pytest
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from accounts import roles, tokens
from accounts.models import AccessRule, User, UserGroup
from accounts.permissions import ADMINISTRATOR
from accounts.service_accounts import create_service_account
from audit.models import AuditEntry
from projects.models import Department, Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, give
from tests.projects.posts import project_form
from tests.web import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(name="vision", department__name="labs")


@pytest.fixture
def chief(project: Project) -> User:
    """An administrator of the department of ``project``."""
    user: User = UserFactory.create(username="grace")
    give(user, "Department administrator", project.department.scope_keys[0])
    return user


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return " ".join(response.content.decode().split())


def test_a_page_shows_the_rules_of_a_scope_and_of_those_around_it(
    project: Project, chief: User, ada: User
) -> None:
    UserFactory.create(administrator=True, username="boss")
    give(ada, "Viewer", project.scope_keys[0], until=timezone.now() + timedelta(days=2))
    elsewhere = UserFactory.create(username="somebody-else")
    give(elsewhere, "Viewer", ProjectFactory().scope_keys[0])
    shown = page(signed_in(chief), f"/access/{project.scope_keys[0]}/")
    for words in ("boss", "grace", "ada", "Department labs", "Account", "Viewer"):
        assert words in shown
    assert "somebody-else" not in shown
    assert shown.count("access-rules/") == 2  # hers alone can be removed; a link and its fetch


def test_a_department_administrator_gives_and_takes_a_role(
    project: Project, chief: User, ada: User
) -> None:
    client = signed_in(chief)
    key = project.scope_keys[0]
    form = client.get(f"/access/{key}/new/").context["form"]
    names = [name for _, name in form.offered["roles"]]
    assert "L1 researcher" in names
    assert ADMINISTRATOR.name not in names
    role = next(pk for pk, name in form.offered["roles"] if name == "L1 researcher")
    post = {"kind": "user", "name": "ada", "role": role, "lasts": "7"}
    assert client.post(f"/access/{key}/new/", post)["Location"] == f"/access/{key}/"
    rule = AccessRule.objects.get(user=ada)
    assert (rule.scope, rule.created_by) == (key, chief)
    assert rule.until is not None
    assert client.post(f"/access/{key}/new/", post).status_code == 422
    client.post(f"/access-rules/{rule.pk}/delete/")
    assert not AccessRule.objects.filter(user=ada).exists()


def test_a_name_that_nobody_has_is_told(project: Project, chief: User) -> None:
    client = signed_in(chief)
    address = f"/access/{project.scope_keys[0]}/new/"
    role = client.get(address).context["form"].offered["roles"][0][0]
    for kind in ("user", "group", "service-account"):
        post = {"kind": kind, "name": "nobody", "role": role, "lasts": "never"}
        response = client.post(address, post)
        assert response.status_code == 422
        assert "Check the spelling" in response.context["form"].errors["name"][0]


def test_other_scopes_are_not_found_and_wider_ones_refused(
    project: Project, chief: User, ada: User
) -> None:
    other = ProjectFactory.create()
    client = signed_in(chief)
    for key in (other.scope_keys[0], other.department.scope_keys[0], "project:x", "moon"):
        assert client.get(f"/access/{key}/").status_code == 404, key
        assert client.get(f"/access/{key}/new/").status_code == 404, key
    for key in (project.cluster.scope_keys[0], "account"):
        assert client.get(f"/access/{key}/").status_code == 403, key
    rule = give(ada, "Viewer", other.scope_keys[0])
    assert client.post(f"/access-rules/{rule.pk}/delete/").status_code == 404


def test_a_person_sees_what_they_may_do_and_by_which_rule(project: Project, ada: User) -> None:
    group = UserGroup.objects.create(name="readers")
    group.people.add(ada)
    give(group, "Viewer", project.department.scope_keys[0])
    give(ada, "L2 researcher", project.scope_keys[0])
    shown = page(signed_in(ada), f"/users/{ada.pk}/access/")
    for words in ("Department labs", "Group readers", "Project vision", "workloads: all"):
        assert words in shown
    assert signed_in(UserFactory.create()).get(f"/users/{ada.pk}/access/").status_code == 403
    admin = UserFactory.create(administrator=True)
    assert "Group readers" in page(signed_in(admin), f"/users/{ada.pk}/access/")


@pytest.mark.parametrize("kind", ["groups", "roles", "service-accounts"])
def test_what_is_in_use_says_where_before_its_deletion(
    project: Project, ada: User, kind: str
) -> None:
    administrator = UserFactory.create(administrator=True)
    subject: User | UserGroup = ada
    role = roles.create_role(by=administrator, name="Runner", permission_sets=["view-projects"])
    used: Model = role
    if kind == "groups":
        subject = used = UserGroup.objects.create(name="readers")
    if kind == "service-accounts":
        subject, _, _ = create_service_account(by=administrator, name="ci")
        used = subject
    rule = give(subject, "Runner", project.scope_keys[0])
    client = signed_in(administrator)
    address = f"/{kind}/{used.pk}/delete/"
    for answer in (client.get(address), client.post(address)):
        assert f"{subject} is Runner in Project vision" in answer.content.decode()
    assert answer.status_code == 422
    if kind != "groups":  # which REST does not have
        path = {"roles": "/authorization/roles"}.get(kind, f"/{kind}")
        status, body = Caller(administrator)("DELETE", f"{path}/{used.pk}")
        assert status == 409
        assert f"{subject} is Runner in project:{project.pk}" in body["message"]
    rule.delete()
    assert client.post(address).status_code == 302
    assert not type(used)._default_manager.filter(pk=used.pk).exists()


def test_the_refusal_of_a_deletion_counts_what_it_does_not_name(project: Project) -> None:
    administrator = UserFactory.create(administrator=True)
    role = roles.create_role(by=administrator, name="Runner", permission_sets=["view-projects"])
    for number in range(5):
        give(UserFactory.create(username=f"user-{number}"), "Runner", project.scope_keys[0])
    shown = page(signed_in(administrator), f"/roles/{role.pk}/delete/")
    assert "user-2 is Runner in Project vision, and 2 more. Remove them first." in shown
    assert "user-3" not in shown


def test_a_custom_role_is_created_and_changed_on_its_page() -> None:
    client = signed_in(UserFactory.create(administrator=True))
    post = {"name": "Runner", "workloads": "manage-workloads", "projects": "view-projects"}
    assert client.post("/roles/new/", post)["Location"] == "/roles/"
    shown = page(client, "/roles/")
    assert "workloads: all" in shown
    rows = client.get("/roles/").context["rows"]
    custom = next(role for role, _ in rows if not role.predefined)
    address = f"/roles/{custom.pk}/edit/"
    assert client.get(address).context["form"].values["workloads"] == "manage-workloads"
    assert client.post(address, {"name": "Runner"}).status_code == 422
    client.post(address, {"name": "Looker", "workloads": "view-workloads"})
    assert "workloads: view" in page(client, "/roles/")


def test_a_service_account_is_created_with_a_secret_shown_once() -> None:
    client = signed_in(UserFactory.create(administrator=True))
    response = client.post("/service-accounts/new/", {"name": "ci"})
    assert response.headers["Cache-Control"] == "no-store"
    secret = response.context["secret"]
    assert secret in response.content.decode()
    shown = page(client, "/service-accounts/")
    assert "ci" in shown
    assert secret not in shown
    account = User.objects.get(username="ci")
    again = client.post(f"/service-accounts/{account.pk}/secret/").context["secret"]
    assert again != secret
    assert "ci" not in [user.username for user, _ in client.get("/users/").context["rows"]]
    assert client.post("/service-accounts/new/", {"name": "Two Words"}).status_code == 422
    client.post(f"/service-accounts/{account.pk}/delete/")
    assert not User.objects.filter(username="ci").exists()


def test_a_service_account_is_disabled_and_enabled_again() -> None:
    administrator = UserFactory.create(administrator=True)
    account, key, secret = create_service_account(by=administrator, name="ci")
    client = signed_in(administrator)
    address = f"/service-accounts/{account.pk}/activity/"
    call = Caller(account)
    assert client.post(address, {"active": "no"})["Location"] == "/service-accounts/"
    assert call("GET", "/me")[0] == 401
    assert tokens.find_key(key.client_id, secret) is None
    assert "Enable<span" in page(client, "/service-accounts/")
    assert client.post(address, {"active": "yes"}).status_code == 302
    assert call("GET", "/me")[0] == 200
    assert "Disable<span" in page(client, "/service-accounts/")
    entries = AuditEntry.objects.filter(target_name="ci", verb__in=["activate", "deactivate"])
    assert list(entries.order_by("pk").values_list("verb", flat=True)) == ["deactivate", "activate"]


def test_a_service_account_that_may_do_more_than_a_person_is_not_theirs_to_enable() -> None:
    administrator = UserFactory.create(administrator=True)
    roles.create_role(by=administrator, name="Robots", permission_sets=["manage-service-accounts"])
    helper = UserFactory.create()
    give(helper, "Robots", "account")
    account, _, _ = create_service_account(by=administrator, name="ci")
    client = signed_in(helper)
    address = f"/service-accounts/{account.pk}/activity/"
    assert client.post(address, {"active": "no"}).status_code == 302
    give(account, ADMINISTRATOR.name, "account")
    assert client.post(address, {"active": "yes"}).status_code == 403
    account.refresh_from_db()
    assert not account.is_active


def test_the_page_of_service_accounts_offers_what_its_reader_may_do() -> None:
    administrator = UserFactory.create(administrator=True)
    create_service_account(by=administrator, name="ci")
    roles.create_role(by=administrator, name="Reader", permission_sets=["view-service-accounts"])
    reader = UserFactory.create()
    give(reader, "Reader", "account")
    shown = page(signed_in(reader), "/service-accounts/")
    for offer in ("New secret", "Disable<span", "Delete<span"):
        assert offer not in shown
        assert offer in page(signed_in(administrator), "/service-accounts/")


def test_a_new_project_begins_in_a_department_where_it_can_be_created(
    project: Project, chief: User
) -> None:
    Department.objects.create(cluster=project.cluster, name="default")
    client = signed_in(chief)
    assert 'value="labs"' in page(client, "/projects/new/")
    posted = project_form(cluster=project.cluster, department="labs", name="detectors")
    client.post("/projects/new/", posted)
    assert Project.objects.get(name="detectors").department == project.department
    boss = signed_in(UserFactory.create(administrator=True))
    assert 'value="default"' in page(boss, "/projects/new/")
