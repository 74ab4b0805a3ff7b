"""Tokens that a form gets, as OAuth 2 asks for them."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from tests.factories import PASSWORD, UserFactory

URL = "/api/v2/token"


@pytest.fixture
def user(db: None, valkey: object) -> User:
    made: User = UserFactory.create(username="mara")
    return made


def by_form(**form: str) -> tuple[int, Any]:
    response = Client().post(URL, form)
    return response.status_code, json.loads(response.content)


def test_a_form_as_oauth_has_it_gets_the_same_tokens(user: User) -> None:
    key, secret = tokens.make_key(user, "ci")
    client = {"client_id": key.client_id, "client_secret": secret}
    status, first = by_form(grant_type="client_credentials", **client)
    assert (status, first["token_type"], first["expires_in"]) == (200, "Bearer", 12 * 3600)
    status, second = by_form(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert (status, tokens.token_owner(second["access_token"])) == (200, user)
    status, _ = by_form(grant_type="password", username="mara", password=PASSWORD)
    assert status == 200


def test_a_form_that_gets_no_token_is_told_why_in_json(user: User) -> None:
    for grant in ("authorization_code", ""):
        status, refused = by_form(grant_type=grant, code="x")
        assert (status, refused["complianceIssues"][0]["field"]) == (400, "grant_type")
    status, refused = by_form(grant_type="client_credentials", client_id="x")
    assert (status, refused["complianceIssues"][0]["field"]) == (400, "client_secret")
    nul = {"username": "a\0", "password": "b"}
    assert by_form(grant_type="password", **nul)[0] == 400
    assert by_form(grant_type="password", username="mara", password="no")[0] == 401
    answer = Client().get(URL)
    assert (answer.status_code, answer.json()["code"]) == (405, 405)
