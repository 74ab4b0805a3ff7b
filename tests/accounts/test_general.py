"""General settings: an administrator's page."""

import pytest
from django.test import Client

from accounts import general
from accounts.models import GeneralSettings, User
from audit.models import AuditEntry
from tests.factories import UserFactory
from tests.web import signed_in
from tests.workloads.wizard.browser import Inputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    user: User = UserFactory(administrator=True, username="boss")
    return user


def switches() -> tuple[bool, bool]:
    settings = general.read_settings()
    return settings.tolerations, settings.topology


def test_switches_are_off_until_an_administrator_turns_them_on(admin: User) -> None:
    client = signed_in(admin)
    page = client.get("/settings/").content.decode()
    assert "tolerations" not in Inputs(page).values
    assert switches() == (False, False)
    page = client.post("/settings/", {"tolerations": "on"}, follow=True).content.decode()
    assert "The general settings were saved." in page
    assert "tolerations" in Inputs(page).values
    assert switches() == (True, False)
    client.post("/settings/", {"topology": "on"})
    assert switches() == (False, True)
    assert GeneralSettings.objects.count() == 1


def test_a_change_of_the_settings_is_in_the_audit_log(admin: User) -> None:
    general.update_settings(by=admin, tolerations=True, topology=False)
    entry = AuditEntry.objects.get()
    assert (entry.target_kind, entry.by_name, entry.after) == (
        "general settings",
        "boss",
        {"tolerations": True},
    )


def test_researchers_have_no_general_settings(client: Client) -> None:
    researcher = signed_in(UserFactory())
    assert "General settings" not in researcher.get("/workloads/").content.decode()
    assert researcher.post("/settings/", {"topology": "on"}).status_code == 403
    assert switches() == (False, False)
