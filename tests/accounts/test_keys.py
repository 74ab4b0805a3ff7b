"""Access keys: made, shown once, used, deleted; each person has their own."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts import tokens
from accounts.models import AccessKey
from tests.factories import UserFactory
from tests.web import DRAWER, signed_in

pytestmark = pytest.mark.django_db

ASKED = {"name": "nightly", "lives": "90", "covers": "everything"}


def test_the_page_of_access_keys_asks_for_signing_in(client: Client) -> None:
    key, _ = tokens.make_key(UserFactory(), "job")
    for page in ("", "new/", f"{key.pk}/delete/"):
        assert client.get(f"/access-keys/{page}")["Location"].startswith("/accounts/login/")


def test_a_new_key_shows_its_secret_once_and_works() -> None:
    user = UserFactory()
    client = signed_in(user)
    response = client.post("/access-keys/new/", ASKED)
    secret = response.context["secret"]
    assert secret in response.content.decode()
    assert response["Cache-Control"] == "no-store"
    key = AccessKey.objects.get()
    assert key.expires_at
    assert 89 < (key.expires_at - timezone.now()).total_seconds() / 86_400 < 90
    assert key.scopes == []
    assert tokens.find_key(key.client_id, secret) == key
    page = client.get("/access-keys/").content.decode()
    assert "nightly" in page
    assert secret not in page


def test_a_key_for_reading_that_never_ends() -> None:
    user = UserFactory()
    asked = {**ASKED, "lives": "never", "covers": "reading"}
    signed_in(user).post("/access-keys/new/", asked)
    key = AccessKey.objects.get()
    assert key.expires_at is None
    assert key.covers("workloads.read")
    assert not key.covers("workloads.create")
    assert ">Reading only</span>" in signed_in(user).get("/access-keys/").content.decode()


@pytest.mark.parametrize("name", ["", "n" * 64])
def test_a_key_needs_a_name(name: str) -> None:
    response = signed_in(UserFactory()).post("/access-keys/new/", ASKED | {"name": name})
    assert response.status_code == 422
    assert "name" in response.context["form"].errors


def test_the_longest_name_has_room_in_a_key() -> None:
    key, _ = tokens.make_key(UserFactory(username="n" * 150), "ci")
    key.full_clean()


def test_keys_are_their_owners_alone() -> None:
    key, secret = tokens.make_key(UserFactory(), "theirs")
    client = signed_in(UserFactory(administrator=True))
    assert "theirs" not in client.get("/access-keys/").content.decode()
    assert client.post(f"/access-keys/{key.pk}/delete/").status_code == 404
    assert tokens.find_key(key.client_id, secret)


def test_a_deleted_key_opens_nothing() -> None:
    user = UserFactory()
    key, secret = tokens.make_key(user, "old")
    client = signed_in(user)
    assert "Delete old?" in client.get(f"/access-keys/{key.pk}/delete/", **DRAWER).content.decode()
    assert client.post(f"/access-keys/{key.pk}/delete/", **DRAWER).status_code == 204
    assert tokens.find_key(key.client_id, secret) is None
