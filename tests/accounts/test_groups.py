"""Groups: an administrator's page and the identity provider fill them; tools ask them."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from accounts import groups
from accounts.models import User, UserGroup
from audit.models import AuditEntry
from tests.factories import UserFactory
from tests.web import DRAWER, signed_in
from tests.workloads.wizard.browser import Inputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    user: User = UserFactory(administrator=True, username="boss")
    return user


@pytest.fixture
def ada() -> User:
    user: User = UserFactory(username="ada")
    return user


def names(user: User) -> list[str]:
    return list(user.user_groups.values_list("name", flat=True))


def test_the_pages_of_groups_are_for_administrators(client: Client, ada: User, admin: User) -> None:
    group = groups.create_group(by=admin, name="vision", people=[])
    researcher = signed_in(ada)
    for page in ("", "new/", f"{group.pk}/edit/", f"{group.pk}/delete/"):
        assert client.get(f"/groups/{page}")["Location"].startswith("/accounts/login/")
        assert researcher.get(f"/groups/{page}").status_code == 403
    assert researcher.post(f"/groups/{group.pk}/delete/").status_code == 403
    assert "/groups/" not in researcher.get("/projects/").content.decode()
    with pytest.raises(PermissionDenied):
        groups.update_group(group, by=ada, people=[ada])


def test_an_administrator_makes_a_group_changes_its_people_and_deletes_it(
    admin: User, ada: User
) -> None:
    browser = signed_in(admin)
    posted = browser.post("/groups/new/", {"name": "vision", "people": [ada.pk]})
    assert posted["Location"] == "/groups/"
    assert names(ada) == ["vision"]
    group = UserGroup.objects.get()
    page = browser.get(f"/groups/{group.pk}/edit/", **DRAWER).content.decode()
    assert "ada" in page
    browser.post(f"/groups/{group.pk}/edit/", {"people": [admin.pk]})
    assert names(ada) == []
    assert names(admin) == ["vision"]
    assert "vision" in browser.get("/groups/?q=vis").content.decode()
    browser.post(f"/groups/{group.pk}/delete/")
    assert not UserGroup.objects.exists()
    verbs = AuditEntry.objects.filter(target_kind="group").order_by("pk")
    assert [entry.verb for entry in verbs] == ["create", "update", "delete"]
    assert verbs[1].before == {"people": "ada"}
    assert verbs[1].after == {"people": "boss"}


def test_a_deactivated_member_stays_in_the_group_that_is_saved(admin: User, ada: User) -> None:
    group = groups.create_group(by=admin, name="vision", people=[ada])
    User.objects.filter(pk=ada.pk).update(is_active=False)
    browser = signed_in(admin)
    page = browser.get(f"/groups/{group.pk}/edit/").content.decode()
    assert Inputs(page).values["people"] == str(ada.pk)
    browser.post(f"/groups/{group.pk}/edit/", {"people": [ada.pk, admin.pk]})
    assert names(ada) == ["vision"]


@pytest.mark.parametrize("name", ["", "vision", "v" * 151])
def test_a_group_without_a_name_of_its_own_is_refused(name: str, admin: User) -> None:
    groups.create_group(by=admin, name="vision", people=[])
    with pytest.raises(ValidationError) as refusal:
        groups.create_group(by=admin, name=name, people=[])
    assert set(refusal.value.message_dict) == {"name"}
    assert signed_in(admin).post("/groups/new/", {"name": name}).status_code == 422


def test_the_identity_provider_puts_people_in_and_takes_them_out(admin: User, ada: User) -> None:
    groups.create_group(by=admin, name="by-hand", people=[ada])
    groups.set_provided_groups(ada, ["vision", "speech"])
    assert names(ada) == ["by-hand", "speech", "vision"]
    groups.set_provided_groups(ada, ["speech"])
    assert names(ada) == ["by-hand", "speech"]
    entry = AuditEntry.objects.filter(target_kind="user").latest("pk")
    assert (entry.by_name, entry.before, entry.after) == (
        "ada",
        {"groups": "speech, vision"},
        {"groups": "speech"},
    )
    before = AuditEntry.objects.count()
    groups.set_provided_groups(ada, ["speech"])
    assert AuditEntry.objects.count() == before, "nothing changed"
    groups.set_provided_groups(ada, None)
    assert names(ada) == ["by-hand"], "a claim that is gone names none"


def test_an_administrator_cannot_undo_what_the_identity_provider_says(
    admin: User, ada: User
) -> None:
    groups.set_provided_groups(ada, ["vision"])
    group = UserGroup.objects.get()
    browser = signed_in(admin)
    assert (
        "From the identity provider: ada."
        in browser.get(f"/groups/{group.pk}/edit/").content.decode()
    )
    browser.post(f"/groups/{group.pk}/edit/", {"people": [admin.pk]})
    assert names(ada) == names(admin) == ["vision"]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("vision", ["vision"]),
        (["/lab/vision", " ", 7, None, "x\0y", "n" * 151], ["/lab/vision"]),
        ({"vision": True}, []),
        (17, []),
    ],
)
def test_a_claim_that_is_no_list_of_names_harms_nobody(
    claim: Any, expected: list[str], ada: User
) -> None:
    groups.set_provided_groups(ada, claim)
    assert names(ada) == expected
