"""Pages and REST say the version of Trainyard."""

import pytest
from django.conf import settings
from django.test import Client

from accounts import tokens
from tests.factories import UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def test_every_page_ends_with_the_version(client: Client) -> None:
    footer = f"Trainyard {settings.VERSION}</footer>"
    assert footer in signed_in(UserFactory()).get("/workloads/").content.decode()
    assert footer in client.get("/accounts/login/").content.decode()
    assert footer in client.get("/nowhere/").content.decode()


def test_rest_says_the_version(client: Client) -> None:
    token = tokens.access_token_for(UserFactory())
    answer = client.get("/api/v1/version", headers={"authorization": f"Bearer {token}"})
    assert answer.json()["version"] == settings.VERSION
