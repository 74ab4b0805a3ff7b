"""A standard training in a real browser: one pod, from the first page to its end."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.walk import make_compute_resource, make_environment

pytestmark = pytest.mark.e2e


def test_a_standard_training_runs_to_its_end_on_this_machine(admin_page: Page) -> None:
    page = admin_page
    page.goto("/workloads/new/")
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name="local").check()
    page.get_by_role("radio", name="team-a").check()
    page.get_by_role("radio", name="Standard", exact=True).check()
    expect(page.get_by_role("radio", name="PyTorch", exact=True)).to_have_count(0)
    page.get_by_label("Name", exact=True).fill("alone")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    expect(page.get_by_label("Number of workers")).to_have_count(0)
    make_environment(page, "plain-image")
    make_compute_resource(page, "plain-compute")
    page.get_by_label("Command", exact=True).fill("python -c \"print('on its own')\"")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    expect(page.get_by_text("Define a different setup for the master")).to_have_count(0)
    page.get_by_role("button", name="CREATE TRAINING").click()
    row = page.get_by_role("row").filter(has_text="alone")
    expect(row).to_contain_text("Completed", timeout=40_000)
    page.goto("/workloads/?columns=name,type,architecture")
    expect(row).to_contain_text("Standard training")
