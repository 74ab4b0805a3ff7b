"""A browser that runs no scripts: an asset, a training by the wizard, and the end of both."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import sign_in
from tests.e2e.walk import IMAGE, command
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e
RUNS = "sh -c 'echo without scripts; sleep 600'"


@pytest.fixture
def plain(browser: Browser, running_trainyard: Trainyard) -> Iterator[Page]:
    with browser.new_context(base_url=running_trainyard.url, java_script_enabled=False) as window:
        page = window.new_page()
        sign_in(page, running_trainyard.username, running_trainyard.password)
        yield page


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def make_environment(page: Page, name: str) -> None:
    """On its own page, which leads back to what was left."""
    page.get_by_label("Name", exact=True).first.fill(name)
    press(page, "Create environment")
    expect(page.get_by_text("Image URL is required")).to_be_visible()
    page.get_by_label("Image URL").fill(IMAGE)
    press(page, "Create environment")


def until_deleted(rest: Rest, workload: str) -> None:
    def ids() -> set[str]:
        return {it["id"] for it in rest.send("GET", "/workloads")["workloads"]}

    wait_for(lambda: workload not in ids(), 60, "the workload to be deleted")


def set_up(page: Page, name: str) -> None:
    page.goto("/workloads/")
    page.get_by_role("link", name="+NEW WORKLOAD: Training").click()
    for choice in ("local", "team-a", "Distributed", "PyTorch", "Workers & master"):
        page.get_by_role("radio", name=choice, exact=True).check()
    press(page, "Continue")
    expect(page.get_by_text("Name is required.").first).to_be_visible()
    page.get_by_label("Name", exact=True).fill(name)
    press(page, "Continue")
    page.wait_for_url("**/2/")


def test_a_training_is_submitted_watched_stopped_and_deleted_without_javascript(
    plain: Page, rest: Rest
) -> None:
    page = plain
    set_up(page, "plain-pages")
    press(page, "+NEW ENVIRONMENT")
    make_environment(page, "plain-dt")
    page.wait_for_url("**/2/**")
    expect(page.get_by_role("radio", name="plain-dt", exact=True)).to_be_checked()
    page.get_by_role("radio", name="small-fraction", exact=True).check()
    command(page).fill(RUNS)
    page.get_by_label("Number of workers").fill("2")
    press(page, "+ENVIRONMENT VARIABLE")
    page.get_by_label("Name 1").fill("LR")
    page.get_by_label("Value 1").fill("0.1")
    press(page, "Continue")
    page.wait_for_url("**/3/")
    press(page, "Create training")
    page.wait_for_url("**/workloads/?sel=*")

    (workload,) = rest.send("GET", "/workloads?filterBy=name==plain-pages")["workloads"]
    assert len(rest.pods(workload["id"])) == 3
    rest.wait(workload["id"], "Running")
    page.reload()
    row = page.locator("tr[data-phase]").filter(has_text="plain-pages")
    expect(row).to_have_attribute("data-phase", "Running")
    row.get_by_role("link", name="plain-pages", exact=True).click()
    page.get_by_role("link", name="Stop", exact=True).click()
    press(page, "Stop")
    rest.wait(workload["id"], "Stopped")
    page.reload()
    page.get_by_role("link", name="Delete", exact=True).click()
    press(page, "Delete")
    until_deleted(rest, workload["id"])
    page.goto("/workloads/")
    expect(row).to_have_count(0)


@pytest.mark.extended
def test_an_asset_is_made_changed_and_deleted_without_javascript(plain: Page) -> None:
    page = plain
    page.goto("/environments/")
    for name in ("My credentials", "Access keys", "Change password", "Sign out"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    page.get_by_role("link", name="+NEW ENVIRONMENT").click()
    make_environment(page, "by-post")
    expect(page.get_by_text("by-post").first).to_be_visible()
    page.goto("/environments/")
    page.get_by_role("link", name="by-post", exact=True).click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Description").fill("Made without scripts")
    press(page, "Save changes")
    expect(page.get_by_text("Made without scripts").first).to_be_visible()
    page.get_by_role("link", name="Delete", exact=True).click()
    press(page, "Delete environment")
    page.goto("/environments/")
    expect(page.get_by_text("by-post")).to_have_count(0)


def test_a_template_is_made_and_used_without_javascript(plain: Page) -> None:
    page = plain
    page.goto("/templates/")
    page.get_by_role("link", name="+New template").first.click()
    for choice in ("local", "team-a", "Standard"):
        page.get_by_role("radio", name=choice, exact=True).check()
    press(page, "Continue")
    page.get_by_role("radio", name="pytorch", exact=True).check()
    command(page).fill("python train.py")
    page.get_by_label("Rule for command").select_option("Locked")
    press(page, "Save")
    page.get_by_role("link", name="Save as template").click()
    page.get_by_label("Name", exact=True).first.fill("by-post-alone")
    press(page, "Save template")
    page.goto("/templates/")
    page.get_by_role("link", name="Use by-post-alone").click()
    page.get_by_label("Name", exact=True).fill("from-a-template")
    press(page, "Continue")
    expect(page.get_by_label("Command", exact=True)).to_be_disabled()
    expect(page.get_by_label("Command", exact=True)).to_have_value("python train.py")
    page.goto("/templates/")
    page.get_by_role("link", name="by-post-alone", exact=True).click()
    page.get_by_role("link", name="Delete", exact=True).click()
    press(page, "Delete template")
    page.goto("/templates/")
    expect(page.get_by_text("by-post-alone")).to_have_count(0)
