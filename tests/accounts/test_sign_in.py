"""Signing in and out, and changing one's own password."""

from types import SimpleNamespace

import pytest
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.core import mail
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.adapter import SocialAccountAdapter
from accounts.models import User
from accounts.services import update_user
from accounts.sessions import user_of_session
from tests.factories import PASSWORD, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def test_a_wrong_password_says_so_and_keeps_the_name(client: Client) -> None:
    UserFactory(username="ada")
    response = client.post("/accounts/login/", {"login": "ada", "password": "wrong"})
    page = response.content.decode()
    assert "not correct" in page
    assert 'value="ada"' in page


def test_signing_in_goes_where_one_wanted_to_go(client: Client) -> None:
    UserFactory(username="ada")
    post = {"login": "ada", "password": PASSWORD, "next": "/projects/"}
    assert client.post("/accounts/login/?next=/projects/", post)["Location"] == "/projects/"
    assert 'value="/projects/"' in Client().get("/accounts/login/?next=/projects/").content.decode()


@pytest.mark.parametrize(
    "page",
    [
        *("signup", "email", "confirm-email", "confirm-email/a", "reauthenticate", "password/set"),
        *("password/reset", "password/reset/done", "password/reset/key/a-b", "login/code/confirm"),
        *("3rdparty", "3rdparty/signup", "social/signup"),
    ],
)
def test_pages_for_signing_up_and_for_mail_are_closed(client: Client, page: str) -> None:
    """allauth's pages for it send mail, which Trainyard has no server for, to any address."""
    UserFactory(username="ada", email="ada@example.com")
    post = {"username": "eve", "email": "ada@example.com"}
    post |= {"password1": "a-password-of-eve", "password2": "a-password-of-eve"}
    for visitor in (client, signed_in(UserFactory())):
        assert visitor.post(f"/accounts/{page}/", post).status_code == 404
        assert visitor.get(f"/accounts/{page}/").status_code == 404
    assert not mail.outbox


@pytest.mark.parametrize("page", ["login", "logout", "inactive", "password/change"])
def test_pages_that_are_there_are_found_without_the_last_slash(client: Client, page: str) -> None:
    assert client.get(f"/accounts/{page}").headers["Location"] == f"/accounts/{page}/"


def test_a_user_without_a_password_here_is_not_asked_to_change_it(client: Client) -> None:
    user = UserFactory.create()
    assert "Change password" in signed_in(user).get("/projects/").content.decode()
    user.set_unusable_password()
    user.save()
    assert "Change password" not in signed_in(user).get("/projects/").content.decode()


def test_signing_out_asks_without_a_script() -> None:
    client = signed_in(UserFactory())
    assert "Sign out" in client.get("/accounts/logout/").content.decode()
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert client.get("/projects/").status_code == 302


def test_people_change_their_own_password() -> None:
    user = UserFactory()
    client = signed_in(user)
    new = "another-good-password"
    post = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert "form-control" in client.get("/accounts/password/change/").content.decode()
    bad = client.post("/accounts/password/change/", post | {"oldpassword": "wrong"})
    assert "aria-invalid" in bad.content.decode()
    assert client.post("/accounts/password/change/", post).status_code == 302
    user.refresh_from_db()
    assert user.check_password(new)


def test_a_session_ends_with_its_time() -> None:
    client = signed_in(UserFactory.create())
    assert client.get("/workloads/").status_code == 200
    Session.objects.update(expire_date=timezone.now())
    assert client.get("/workloads/").status_code == 302


def test_a_session_stays_valid_after_a_new_secret_key(
    settings: Settings,
) -> None:
    """A terminal or a tool that was opened first took the session away from the browser."""
    user = UserFactory.create()
    client = signed_in(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of more than twenty characters"
    assert user_of_session(session) == user
    assert user_of_session(session) == user
    assert client.get("/workloads/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert user_of_session(client.cookies[settings.SESSION_COOKIE_NAME].value) == user, (
        "it was renewed"
    )
    assert user_of_session(session) is None


def test_a_session_is_nobodys_once_its_user_is_out(settings: Settings) -> None:
    user = UserFactory.create()
    session = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
    assert user_of_session(session) == user
    user.set_password("another-good-password")
    user.save()
    assert user_of_session(session) is None
    assert user_of_session("") is None
    session = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
    User.objects.update(is_active=False)
    assert user_of_session(session) is None


def lets_in(address: str) -> bool:
    """Whether the identity provider's next new person may come with this email address."""
    request = HttpRequest()
    request.user = AnonymousUser()
    request.csp_nonce = ""  # type: ignore[attr-defined]
    login = SimpleNamespace(email_addresses=[EmailAddress(email=address)])
    try:
        return SocialAccountAdapter().is_auto_signup_allowed(request, login)
    except ImmediateHttpResponse as error:
        return bool(error.response.status_code != 409)


def test_an_address_is_free_after_an_administrator_removes_it() -> None:
    """allauth keeps the one with which a user came from the identity provider."""
    user = UserFactory.create(email="nora@example.org")
    admin = UserFactory(administrator=True)
    EmailAddress.objects.create(user=user, email="nora@example.org", primary=True)
    whole = {"first_name": "", "last_name": "Nkosi"}
    update_user(user, by=admin, email="Nora@example.org", **whole)
    assert EmailAddress.objects.filter(user=user).exists(), "it is still theirs"
    assert not lets_in("nora@example.org")
    update_user(user, by=admin, email="", **whole)
    assert lets_in("nora@example.org")


def test_an_address_that_was_entered_with_capitals_is_taken() -> None:
    UserFactory.create(email="Nora@example.org")
    assert not lets_in("nora@example.org")
    assert not lets_in("NORA@example.org")
    claims = {"username": "nora@example.org"}  # and no address
    login = SimpleNamespace(user=User())
    assert not SocialAccountAdapter().populate_user(HttpRequest(), login, claims).username
