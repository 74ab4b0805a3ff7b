"""Wrong refresh tokens: how many are answered, and who is let in nevertheless."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts import tokens
from accounts.models import User
from tests.factories import PASSWORD, UserFactory

ADDRESS = "10.0.0.4"


@pytest.fixture
def user(db: None, valkey: object) -> User:
    made: User = UserFactory.create(username="mara")
    return made


def ask(**body: str) -> Any:
    client = Client(REMOTE_ADDR=ADDRESS)
    return client.post("/api/v1/token", body, content_type="application/json")


def by_json(token: str) -> Any:
    return ask(grantType="refresh_token", refreshToken=token)


def by_form(token: str) -> Any:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return Client(REMOTE_ADDR=ADDRESS).post("/api/v2/token", form)


@pytest.mark.parametrize("refresh", [by_json, by_form])
def test_wrong_refresh_tokens_are_limited_and_lock_nobody_out(user: User, refresh: Any) -> None:
    valid = tokens.create_tokens(user).refresh
    assert [refresh("wrong").status_code for _ in range(10)] == [401] * 10
    limited = refresh("wrong")
    assert (limited.status_code, limited["Retry-After"]) == (429, "60")
    assert refresh(valid).status_code == 200
    assert ask(grantType="password", username="mara", password=PASSWORD).status_code == 200
    with time_machine.travel(timezone.now() + timedelta(seconds=60), tick=False):
        assert refresh("wrong").status_code == 401


@pytest.mark.parametrize("refresh", [by_json, by_form])
def test_an_ended_refresh_token_is_told_so_whatever_else_its_address_sends(
    user: User, refresh: Any
) -> None:
    expired = tokens.create_tokens(user, until=timezone.now() - timedelta(days=1)).refresh
    of_an_old_password = tokens.create_tokens(user).refresh
    user.set_password("another long pass phrase")
    user.save()
    for ended in (expired, of_an_old_password):
        assert {refresh(ended).status_code for _ in range(12)} == {401}
    assert {refresh("wrong").status_code for _ in range(12)} == {401, 429}
    for ended in (expired, of_an_old_password):
        assert refresh(ended).status_code == 401
    assert refresh(tokens.access_token_for(user)).status_code == 429, (
        "an access token is no refresh token"
    )


def test_valid_refresh_tokens_are_never_limited(user: User) -> None:
    valid = tokens.create_tokens(user).refresh
    assert {by_json(valid).status_code for _ in range(12)} == {200}
