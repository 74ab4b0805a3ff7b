"""A credential and one of its keys are chosen for a variable, by keyboard as well."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.walk import begin, output
from tests.product import Trainyard

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
SEED = """
from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from projects.models import Project
from projects.scopes import Place
place = Place(Project.objects.get(name="team-a"))
by = User.objects.get(username="admin")
kept = {"User": "ada", "Password": "tr41n-l1ke-nobody-reads"}
for name, kind, keys in (("db", "password", ()), ("hub", "genericSecret", ("token",))):
    entered = kept if kind == "password" else {"token": "tr41n-l1ke-nobody-reads"}
    document = {"kind": kind, "keys": list(keys)}
    services.create(CREDENTIAL, by=by, name=name, place=place, document=document, entered=entered)
"""
CLEAR = "from assets.models import Credential; Credential.objects.all().delete()"


def test_a_variable_takes_its_value_from_a_credential(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    running_trainyard.manage("shell", "--command", SEED)
    begin(page, "with-credential")
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click()
    page.get_by_label("Name 1").fill("DB_PASSWORD")
    page.get_by_label("Source 1").focus()
    page.get_by_label("Source 1").select_option("Credential")
    chosen = page.get_by_label("Credential 1")
    expect(page.get_by_label("Source 1")).to_be_focused()
    chosen.focus()
    chosen.select_option("db (Username & password, Project team-a)")
    expect(chosen).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Key 1")).to_be_focused()
    page.get_by_label("Key 1").select_option("Password")
    code = output(page, "yaml")
    expect(code).to_contain_text("key: Password")
    chosen.select_option("hub (Generic secret, Project team-a)")
    expect(page.get_by_label("Key 1")).to_have_value("token")
    expect(page.locator(".errorlist")).to_have_count(0)
    page.get_by_label("Source 1").select_option("Custom value")
    expect(page.get_by_label("Value 1")).to_have_value("")
    assert "tr41n-l1ke-nobody-reads" not in page.content()
    running_trainyard.manage("shell", "--command", CLEAR)
