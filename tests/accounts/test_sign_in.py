"""Signing in and out, and changing one's own password."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

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


def test_there_is_no_signing_up(client: Client) -> None:
    post = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", post)
    assert client.get("/projects/").status_code == 302


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
