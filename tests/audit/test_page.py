"""The audit log's page, and the entries that signing in makes."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from audit import services as audit
from audit.models import AuditEntry
from audit.views import changes
from tests.factories import PASSWORD, ProjectFactory, UserFactory
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/audit/"


@pytest.fixture
def admin() -> User:
    return UserFactory(administrator=True, username="boss")


def test_the_audit_log_is_for_those_who_may_read_it(client: Client) -> None:
    assert client.get(ADDRESS)["Location"].startswith("/accounts/login/")
    researcher = signed_in(UserFactory())
    response = researcher.get(ADDRESS)
    assert response.status_code == 403
    assert "the permission audit.read " in response.content.decode()
    assert ADDRESS not in researcher.get("/projects/").content.decode()


def test_the_audit_log_shows_who_did_what_newest_first(admin: User) -> None:
    audit.record(admin, "create", ProjectFactory(name="vision"), after={"gpu_quota": 2.5})
    audit.record(None, "create", ProjectFactory(name="speech"))
    page = signed_in(admin).get(ADDRESS).content.decode()
    assert page.index("speech") < page.index("vision")
    for text in ("boss", "Command line", "Create", "GPU quota", "2.5", f'href="{ADDRESS}"'):
        assert text in page


def test_a_change_is_shown_as_from_what_to_what(admin: User) -> None:
    before = {"gpu_quota": 1.0, "spec.image": "a:1"}
    after = {"gpu_quota": 2.0, "gpu_rank": 0}
    audit.record(admin, "update", ProjectFactory(), before=before, after=after)
    (quota, image, rank) = changes(AuditEntry.objects.get())
    assert (quota.name, quota.before, quota.after) == ("GPU quota", 1.0, 2.0)
    assert (image.name, image.before, image.after) == ("spec.image", "a:1", None)
    assert (rank.name, rank.before, rank.after) == ("GPU rank", None, 0)
    page = signed_in(admin).get(ADDRESS).content.decode()
    assert "<del>1.0</del>" in page
    assert "<details>" not in page


def test_all_but_the_first_fields_of_an_entry_are_folded(admin: User) -> None:
    fields = {f"field_{letter}": letter for letter in "abcde"}
    audit.record(admin, "create", ProjectFactory(), after=fields)
    page = signed_in(admin).get(ADDRESS).content.decode()
    shown, _, folded = page.partition("<summary>2 more</summary>")
    assert "Field c" in shown
    assert "Field d" in folded
    assert "<del>" not in page


def test_the_pages_of_the_audit_log_take_a_fixed_number_of_queries(
    admin: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    audit.record_each(admin, "stop", [ProjectFactory()] * 51)
    client = signed_in(admin)
    with django_assert_num_queries(6):  # session, user, rules, the oldest and the newest id, rows
        page = client.get(ADDRESS, **HTMX).content.decode()
    assert page.count("<tr>") == 52  # with the head and the link to older entries
    (older,) = set(re.findall(r'href="(\?before=\d+)"', page))
    assert client.get(f"{ADDRESS}{older}", **HTMX).content.decode().count("<tr>") == 2


def test_an_empty_audit_log_says_so(admin: User) -> None:
    assert "No entries yet" in signed_in(admin).get(ADDRESS).content.decode()


def test_signing_in_is_written_down(client: Client, valkey: object) -> None:
    user = UserFactory(username="ada")
    client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    client.post("/accounts/login/", {"login": "ada", "password": "wrong"})
    entry = AuditEntry.objects.get()
    assert (entry.by, entry.verb, entry.target_name) == (user, "sign in", "ada")


def test_signing_in_by_rest_is_in_the_audit_log(client: Client, valkey: object) -> None:
    UserFactory(username="ada")
    body = {"grantType": "password", "username": "ada", "password": PASSWORD}
    client.post("/api/v1/token", body, content_type="application/json")
    assert AuditEntry.objects.get().verb == "sign in"


def test_a_change_of_ones_own_password_is_in_the_audit_log(valkey: object) -> None:
    user = UserFactory()
    new = "another long pass phrase"
    values = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    signed_in(user).post("/accounts/password/change/", values)
    entry = AuditEntry.objects.get()
    assert (entry.by, entry.verb, entry.after) == (user, "change password", {})
