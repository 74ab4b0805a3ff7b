"""Users: administrators let people in and out; nobody locks everyone out."""

from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.access import account_roles_of
from accounts.models import AccessRole, User
from accounts.services import update_user
from projects.members import projects_of
from tests.factories import PASSWORD, ProjectFactory, UserFactory
from tests.web import DRAWER, HTMX, signed_in

pytestmark = pytest.mark.django_db
NEW = "correct horse battery"


def good(**changes: Any) -> dict[str, Any]:
    return {
        "username": "ada",
        "password": NEW,
        "email": "ada@example.com",
        "first_name": "Ada",
        "last_name": "Lovelace",
        **changes,
    }


@pytest.fixture
def admin() -> User:
    user: User = UserFactory(administrator=True, username="boss")
    return user


@pytest.fixture
def administrator(admin: User) -> Client:
    return signed_in(admin)


def test_the_pages_of_users_are_for_administrators(client: Client) -> None:
    person = UserFactory()
    researcher = signed_in(person)
    for page in ("", "new/", f"{person.pk}/edit/", f"{person.pk}/password/"):
        assert client.get(f"/users/{page}")["Location"].startswith("/accounts/login/")
        assert researcher.get(f"/users/{page}").status_code == 403
    assert researcher.post(f"/users/{person.pk}/activity/", {"active": "no"}).status_code == 403
    assert researcher.post(f"/users/{person.pk}/edit/", good()).status_code == 403
    assert "Users" not in researcher.get("/projects/").content.decode()


def test_a_new_user_signs_in_with_the_first_password(administrator: Client) -> None:
    project = ProjectFactory()
    response = administrator.post("/users/new/", good(projects=[project.pk]))
    assert response["Location"] == "/users/"
    user = User.objects.get(username="ada")
    assert (user.get_full_name(), account_roles_of([user])) == ("Ada Lovelace", {user.pk: []})
    assert list(projects_of(user)) == [project]
    client = Client()
    response = client.post("/accounts/login/", {"login": "ada", "password": NEW})
    assert response.status_code == 302
    assert client.get("/projects/").status_code == 200


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"username": ""}, "username", "is required"),
        ({"username": "two words"}, "username", "valid username"),
        ({"username": "boss"}, "username", "already exists"),
        ({"username": "u" * 151}, "username", "at most 150"),
        ({"password": ""}, "password", "too short"),
        ({"password": "short"}, "password", "too short"),
        ({"password": "password1"}, "password", "too common"),
        ({"password": "lovelace1"}, "password", "too similar"),
        ({"email": "nowhere"}, "email", "valid email"),
        ({"role": "king"}, "role", "valid choice"),
        ({"projects": ["99"]}, "projects", "valid choice"),
    ],
)
def test_a_bad_value_names_its_field(
    administrator: Client, changes: dict[str, Any], field: str, words: str
) -> None:
    response = administrator.post("/users/new/", good() | changes)
    assert response.status_code == 422
    assert words in response.context["form"].errors[field][0]
    assert NEW not in response.content.decode()
    assert User.objects.count() == 1


def test_a_new_user_may_have_a_role_in_the_account(administrator: Client) -> None:
    role = AccessRole.objects.get(name="Viewer")
    administrator.post("/users/new/", good(role=role.pk))
    user = User.objects.get(username="ada")
    assert account_roles_of([user]) == {user.pk: ["Viewer"]}


def test_an_edit_changes_projects(administrator: Client) -> None:
    user = UserFactory()
    project = ProjectFactory()
    post = {"email": "", "projects": [project.pk]}
    assert administrator.post(f"/users/{user.pk}/edit/", post, **DRAWER).status_code == 204
    user.refresh_from_db()
    assert list(projects_of(user)) == [project]
    assert user.check_password(PASSWORD)


def test_a_reset_ends_the_users_sessions(administrator: Client) -> None:
    user = UserFactory()
    theirs = signed_in(user)
    assert administrator.post(f"/users/{user.pk}/password/", {"password": "x"}).status_code == 422
    response = administrator.post(f"/users/{user.pk}/password/", {"password": NEW})
    assert response["Location"] == "/users/"
    assert authenticate(username=user.username, password=NEW) == user
    assert theirs.get("/projects/").status_code == 302


def test_deactivating_signs_out_at_once_and_can_be_undone(administrator: Client) -> None:
    user = UserFactory()
    theirs = signed_in(user)
    address = f"/users/{user.pk}/activity/"
    assert administrator.get(address).status_code == 405
    assert administrator.post(address, {"active": "no"}, **HTMX).status_code == 204
    assert theirs.get("/projects/").status_code == 302
    assert Client().post(
        "/accounts/login/", {"login": user.username, "password": PASSWORD}
    ).headers.get("Location") in {"/accounts/inactive/", None}
    administrator.post(address, {"active": "yes"})
    assert signed_in(user).get("/projects/").status_code == 200


def test_administrators_cannot_deactivate_themselves(administrator: Client, admin: User) -> None:
    response = administrator.post(f"/users/{admin.pk}/activity/", {"active": "no"}, follow=True)
    assert "cannot deactivate yourself" in response.content.decode()
    admin.refresh_from_db()
    assert admin.is_active


def test_search_finds_by_any_name(administrator: Client) -> None:
    UserFactory(username="ada", first_name="Augusta")
    UserFactory(username="grace")
    page = administrator.get("/users/?q=augusta", **HTMX).content.decode()
    assert "ada" in page
    assert "grace" not in page
    assert "No results" in administrator.get("/users/?q=zzz").content.decode()


def test_the_list_of_users_takes_a_fixed_number_of_queries(
    administrator: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    UserFactory.create_batch(20)
    with django_assert_max_num_queries(7):
        administrator.get("/users/")


def test_a_bad_password_hides_nothing_else_that_is_wrong(administrator: Client) -> None:
    response = administrator.post("/users/new/", good(username="a b", password="x", email="nope"))
    assert set(response.context["form"].errors) == {"username", "password", "email"}


@pytest.mark.django_db
def test_a_change_of_a_user_takes_no_deactivation_of_meanwhile_back() -> None:
    admin = UserFactory(administrator=True)
    user = UserFactory()
    User.objects.filter(pk=user.pk).update(is_active=False)
    who = {"email": "m@example.com", "first_name": "M", "last_name": "C"}
    update_user(user, by=admin, **who)
    user.refresh_from_db()
    assert (user.is_active, user.email) == (False, "m@example.com")
