"""Seed 000, "User Interface", word for word in the browser, up to the submission."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e
IMAGE = "kubeflow/pytorch-dist-mnist:latest"


def begin(page: Page, name: str) -> None:
    """Steps 1 to 8: the first page."""
    page.goto("/workloads/")
    page.get_by_role("button", name="+NEW WORKLOAD").click()
    page.get_by_role("link", name="Training", exact=True).click()
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name="local").check()
    page.get_by_role("radio", name="team-a").check()
    expect(page.get_by_role("radio", name="Distributed")).to_be_checked()
    page.get_by_role("radio", name="PyTorch").check()
    page.get_by_role("radio", name="Workers & master").check()
    page.get_by_role("radio", name="Start from scratch").check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")


def make_environment(page: Page, name: str) -> None:
    """Step 9: in the drawer, which comes back with it selected."""
    page.get_by_role("button", name="+NEW ENVIRONMENT").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill(name)
    drawer.get_by_label("Image URL").fill(IMAGE)
    drawer.get_by_role("button", name="CREATE ENVIRONMENT").click()
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()


def make_compute_resource(page: Page, name: str) -> None:
    """Step 10, the small-fraction that is not in the gallery."""
    page.get_by_role("button", name="+NEW COMPUTE RESOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill(name)
    drawer.get_by_label("GPU devices per pod").fill("1")
    drawer.get_by_label("GPU memory per device").fill("10")
    drawer.get_by_role("button", name="CREATE COMPUTE RESOURCE").click()
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()


def test_seed_000_from_new_workload_to_the_table(admin_page: Page) -> None:
    page = admin_page
    begin(page, "first-training")
    make_environment(page, "pytorch-dt-e2e")
    page.get_by_label("Number of workers").fill("2")
    make_compute_resource(page, "small-fraction-e2e")
    summary = page.get_by_role("complementary", name="Summary")
    expect(summary.get_by_text("3 = 1 master + 2 workers")).to_be_visible()
    expect(summary.get_by_text("Starts at once")).to_be_visible()
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    expect(page.get_by_label("Define a different setup for the master")).not_to_be_checked()
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/")
    expect(page.get_by_role("link", name="first-training", exact=True)).to_be_visible()


def test_nothing_typed_is_lost_and_errors_stand_at_their_fields(admin_page: Page) -> None:
    page = admin_page
    begin(page, "second-training")
    workers = page.get_by_label("Number of workers")
    expect(page.locator(".errorlist")).to_have_count(0)
    workers.fill("0")
    workers.blur()
    expect(page.get_by_text("Number of workers must be at least 1.").first).to_be_visible()
    expect(workers).to_have_attribute("aria-invalid", "true")
    workers.fill("3")
    expect(workers).not_to_have_attribute("aria-invalid", "true")
    page.get_by_label("Arguments").press_sequentially("--epochs=3")
    page.reload()
    expect(page.get_by_label("Arguments")).to_have_value("--epochs=3")
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click()
    expect(page.get_by_label("Name 1")).to_be_focused()
    page.keyboard.type("SEED")
    page.keyboard.press("Tab")
    page.keyboard.type("7")
    page.get_by_role("button", name="CONTINUE").click()
    expect(page.get_by_role("alert")).to_contain_text("Select an environment.")
    assert re.search(r"/2/$", page.url)
    expect(page.get_by_label("Value 1")).to_have_value("7")
    page.goto("/workloads/")
    page.get_by_role("link", name="second-training").click()
    expect(workers).to_have_value("3")


def test_typing_survives_a_change_of_the_page_around_it(admin_page: Page) -> None:
    """A choice that renders the page anew while someone types must not take the text away."""
    page = admin_page
    page.goto("/workloads/new/")
    name = page.get_by_label("Name", exact=True)
    page.get_by_role("radio", name="Workers only").check()
    name.fill("typed-meanwhile")
    expect(page.get_by_text("3 Review")).to_be_visible()
    expect(name).to_have_value("typed-meanwhile")
    expect(page.get_by_text("Free in team-a")).to_be_visible()
    page.reload()
    expect(name).to_have_value("typed-meanwhile")
