"""The administrator of a department manages it, and sees nothing of others."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import sign_in
from tests.product import PASSWORD, Trainyard

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
MAKE = """
from accounts.models import User
from projects.models import Department, Project
from tests.factories import give

team = Project.objects.get(name="team-a")
labs = Department.objects.create(name="labs", cluster=team.cluster, gpu_quota=4)
grace = User.objects.create_user("grace", password="%s")
give(grace, "Department administrator", labs.scope_keys[0])
User.objects.create_user("ravi", password="%s")
"""
REMOVE = """
from accounts.models import User
from projects.models import Department, Project

Project.objects.filter(department__name="labs").delete()
Department.objects.get(name="labs").delete()
User.objects.filter(username__in=["grace", "ravi"]).delete()
"""


@pytest.fixture
def _department(running_trainyard: Trainyard) -> Iterator[None]:
    """A department with an administrator, and a person without access to anything."""
    running_trainyard.manage("shell", "--no-imports", "-c", MAKE % (PASSWORD, PASSWORD))
    yield
    running_trainyard.manage("shell", "--no-imports", "-c", REMOVE)


@pytest.mark.usefixtures("_department")
def test_an_administrator_runs_a_department(page: Page, problems: list[str]) -> None:
    sign_in(page, "grace", PASSWORD)
    page.goto("/departments/")
    expect(page.get_by_role("cell", name="labs", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="New department")).to_have_count(0)

    page.goto("/projects/")
    expect(page.get_by_text("team-a")).to_have_count(0)
    page.get_by_role("link", name="+New project").first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_label("Department")).to_have_value("labs")
    drawer.get_by_label("Project name").fill("speech")
    drawer.get_by_label("GPU quota").fill("2")
    drawer.get_by_role("button", name="Create project").click()
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("row", name="speech labs")).to_be_visible()

    page.get_by_role("link", name="speech", exact=True).click()
    drawer.get_by_role("link", name="Who has access").click()
    page.get_by_role("link", name="+Give access").click()
    drawer.get_by_label("Name", exact=True).fill("ravi")
    expect(drawer.get_by_label("Role").locator("option:checked")).to_have_text("L1 researcher")
    drawer.get_by_role("button", name="Add access rule").click()
    expect(page.get_by_role("row", name="ravi L1 researcher Here Never grace")).to_be_visible()

    page.goto("/departments/new/")
    refusal = "You need the permission departments.create for this. Ask admin for it."
    expect(page.get_by_text(refusal)).to_be_visible()
    problems[:] = [text for text in problems if "403" not in text]
