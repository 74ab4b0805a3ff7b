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


@pytest.fixture
def rest(running_trainyard: Trainyard) -> Iterator[Rest]:
    with Rest(running_trainyard) as rest:
        yield rest
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])


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
    page.wait_for_url("**/workloads/")

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


@pytest.mark.extended
def test_a_workspace_with_a_tool_a_volume_and_labels_is_made_without_javascript(
    plain: Page, rest: Rest
) -> None:
    """What is added is in sight: its section stays open."""
    page = plain
    page.goto("/workloads/")
    page.get_by_role("link", name="Workspace", exact=True).click()
    for choice in ("local", "team-a"):
        page.get_by_role("radio", name=choice, exact=True).check()
    page.get_by_label("Name", exact=True).fill("plain-desk")
    press(page, "Continue")
    page.get_by_role("radio", name="jax", exact=True).check()
    page.get_by_role("radio", name="cpu-only", exact=True).check()
    command(page).fill("sleep 600")
    page.locator("#tools > summary").click()
    press(page, "+TOOL")
    tool = page.get_by_role("group", name="Tools 1")
    expect(tool.get_by_label("Tool", exact=True)).to_be_focused()
    tool.get_by_label("Name", exact=True).fill("board")
    press(page, "Continue")
    expect(tool.get_by_text("Container port is required.")).to_be_visible()
    tool.get_by_label("Container port").fill("6006")
    page.locator("#storage > summary").click()
    press(page, "+VOLUME")
    volume = page.get_by_role("group", name="Volume 1")
    volume.get_by_label("Claim size", exact=True).fill("1")
    volume.get_by_label("Container path").fill("/scratch")
    page.locator("#general > summary").click()
    press(page, "+LABEL")
    page.get_by_role("group", name="Labels").get_by_label("Name 1").fill("team")
    press(page, "Continue")
    page.wait_for_url("**/3/")
    for words in ("board", "/scratch", "team="):
        expect(page.locator("#wizard-review")).to_contain_text(words)
    press(page, "Create workspace")
    page.wait_for_url("**/workloads/")
    (workload,) = rest.send("GET", "/workloads?filterBy=name==plain-desk")["workloads"]
    assert workload["type"] == "Workspace"


@pytest.mark.extended
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


@pytest.mark.extended
def test_data_sources_and_credentials_are_made_without_javascript(plain: Page) -> None:
    """The fields of the chosen type are shown, those of others are not."""
    page = plain
    page.goto("/credentials/new/")
    page.get_by_label("Type").select_option("Username & password")
    page.get_by_label("Name", exact=True).first.fill("by-post")
    values = page.get_by_role("group", name="Username & password")
    values.get_by_label("Username").fill("ada")
    values.get_by_label("Password").fill("nobody-reads-this")
    expect(page.get_by_label("Private key")).to_be_hidden()
    press(page, "Create credential")
    page.goto("/data-sources/new/")
    page.get_by_label("Type").select_option("Git")
    page.get_by_label("Name", exact=True).first.fill("code-by-post")
    repository = page.get_by_role("group", name="Git", exact=True)
    repository.get_by_label("Repository").fill("https://example.com/a.git")
    repository.get_by_label("Credential", exact=True).select_option(index=1)
    repository.get_by_label("Container path").fill("/code")
    expect(page.get_by_label("Bucket")).to_be_hidden()
    press(page, "Create data source")
    page.goto("/data-sources/?as=table")
    expect(page.get_by_role("row").filter(has_text="code-by-post")).to_contain_text("by-post")
    for gallery, name, noun in (
        ("data-sources", "code-by-post", "data source"),
        ("credentials", "by-post", "credential"),
    ):
        page.goto(f"/{gallery}/?as=cards")
        page.get_by_role("link", name=name, exact=True).click()
        page.get_by_role("link", name="Delete", exact=True).click()
        press(page, f"Delete {noun}")
