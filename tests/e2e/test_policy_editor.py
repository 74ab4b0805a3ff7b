"""An administrator writes a policy in the editor, simulates and saves it, and changes it again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.product import Trainyard

pytestmark = pytest.mark.e2e
MAKE_PROJECT = """
from accounts.models import User
from projects.models import Project
from tests.factories import WorkloadFactory

team = Project.objects.get(name="team-a")
values = {"department": team.department, "cluster": team.cluster, "gpu_quota": 2}
project = Project.objects.create(name="edited", **values)
draft = {
    "name": "before",
    "project": project.pk,
    "cluster": str(project.cluster_id),
    "framework": "PyTorch",
    "values": {"numWorkers": 2},
    "worker": {"values": {"image": "docker.io/torch:1"}},
}
admin = User.objects.get(username="admin")
WorkloadFactory(
    name="before", project=project, created_by=admin, completed=True, draft_json=draft
)
"""
REMOVE = """
from projects.models import Project
from workloads.models import Workload

Workload.objects.filter(project__name="edited").delete()
Project.objects.get(name="edited").delete()
"""


@pytest.fixture
def _project_with_a_workload(running_trainyard: Trainyard) -> Iterator[None]:
    """A project with a workload. It is gone afterwards: other tests count projects."""
    running_trainyard.manage("shell", "--no-imports", "-c", MAKE_PROJECT)
    yield
    running_trainyard.manage("shell", "--no-imports", "-c", REMOVE)


def choose(page: Page, label: str, value: str) -> None:
    """Choose a field or its rule, and wait until the form shows what suits it."""
    with page.expect_response("**/policies/new/"):
        page.get_by_label(label, exact=True).select_option(value)
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling")).to_have_count(0)


def assert_below_line(number: int, keys: Locator, text: Locator) -> None:
    """The list of keys begins just below a line of the text."""
    height = float(text.evaluate("area => Number.parseFloat(getComputedStyle(area).lineHeight)"))
    begins = keys.evaluate("list => list.getBoundingClientRect().top")
    area = text.evaluate("area => area.getBoundingClientRect().top")
    assert number * height < begins - area < (number + 1) * height


@pytest.mark.usefixtures("_project_with_a_workload")
def test_a_policy_is_written_simulated_saved_and_changed(
    admin_page: Page, problems: list[str]
) -> None:
    page = admin_page
    page.goto("/policies/new/")
    page.get_by_label("Name", exact=True).fill("limits")
    page.get_by_label("Scope").select_option(label="Project edited")
    text = page.get_by_role("textbox", name="YAML")
    keys = page.get_by_role("listbox", name="Keys that are allowed here")

    # completion
    text.press_sequentially("ru")
    expect(keys.get_by_role("option")).to_have_text(["rules"])
    page.keyboard.press("Enter")
    text.press_sequentially("wor")
    page.keyboard.press("Enter")
    text.press_sequentially("numW")
    page.keyboard.press("Enter")
    expect(text).to_have_value("rules:\n  worker:\n    numWorkers:\n      ")
    page.keyboard.press("Control+Space")
    expect(keys.get_by_role("option", name="max a whole number")).to_be_visible()
    assert_below_line(4, keys, text)
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    text.press_sequentially("max: many")

    # an error at its line
    page.get_by_role("button", name="Check", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Line 4: rules.worker.numWorkers.max must be a whole number")
    selected = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert text.evaluate(selected) == "      max: many"
    text.fill("rules:\n  worker:\n    numWorkers:\n      max: 4\n")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(alert).to_have_count(0)

    # form and YAML are the same policy
    rules = page.get_by_role("region", name="Rules")
    expect(rules.get_by_role("row")).to_have_count(2)
    choose(page, "Field", "worker.image")
    choose(page, "Rule", "startsWith")
    page.get_by_label("Value").fill("registry.example.com/")
    page.get_by_role("button", name="Put into the policy").click()
    expect(rules.get_by_role("row")).to_have_count(3)
    expect(text).to_have_value("""\
rules:
  worker:
    numWorkers:
      max: 4
    image:
      startsWith: registry.example.com/
""")
    page.get_by_role("button", name="Remove Maximum of numWorkers").click()
    expect(text).to_have_value(
        "rules:\n  worker:\n    image:\n      startsWith: registry.example.com/\n"
    )

    # the simulation, and what refuses everything is confirmed
    page.get_by_role("button", name="Simulate").click()
    simulation = page.get_by_role("region", name="Simulation")
    expect(simulation).to_contain_text("1 refused, 0 changed, 0 unchanged.")
    before = simulation.get_by_role("row").filter(has_text="before")
    expect(before).to_contain_text("worker.image must start with registry.example.com/")
    page.get_by_role("button", name="Save policy").click()
    expect(page.get_by_role("alert")).to_contain_text("refuses all of the last workloads")
    problems.clear()  # the question, which answers 409
    page.get_by_role("button", name="Save it anyway").click()
    expect(page.get_by_role("heading", name="limits", exact=True)).to_be_visible()

    # versions with what changed
    page.get_by_role("link", name="Edit", exact=True).click()
    text.fill("rules:\n  worker:\n    image:\n      startsWith: docker.io/\n")
    page.get_by_role("button", name="Save policy").click()
    latest = page.get_by_role("region", name="Version 2")
    expect(latest).to_contain_text("by admin")
    expect(latest).to_contain_text("startsWith: registry.example.com/")
    expect(latest).to_contain_text("startsWith: docker.io/")
    expect(page.get_by_role("region", name="Version 1")).to_contain_text("The first version.")
