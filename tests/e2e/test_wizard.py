"""What the wizard promises a person at the keyboard."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.walk import begin, command, output

pytestmark = pytest.mark.e2e


def test_the_wizard_loses_nothing_typed_and_shows_errors_at_their_fields(admin_page: Page) -> None:
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
    expect(page.locator(".errorlist")).to_have_count(0)
    expect(command(page)).to_be_visible()
    page.get_by_label("Arguments").press_sequentially("--epochs=3")
    page.reload()
    expect(page.get_by_label("Arguments")).to_have_value("--epochs=3")
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click()
    expect(page.get_by_label("Name 1")).to_be_focused()
    page.keyboard.type("SEED")
    page.keyboard.press("Tab")
    page.keyboard.type("7")
    page.get_by_role("button", name="CONTINUE").click()
    expect(page.get_by_role("alert")).to_contain_text("2 things to fill in or fix.")
    summary = page.get_by_role("complementary", name="Summary")
    for error in ("Select an environment.", "Select a compute resource."):
        expect(page.get_by_text(error, exact=True)).to_have_count(2)  # at the field, and there:
        expect(summary.get_by_role("link", name=error)).to_have_count(1)
    assert re.search(r"/2/$", page.url)
    expect(page.get_by_label("Value 1")).to_have_value("7")
    page.goto("/workloads/")
    page.locator("#drafts summary").click()
    page.get_by_role("link", name="second-training").click()
    expect(workers).to_have_value("3")


def test_the_summary_says_what_is_over_the_projects_quota(admin_page: Page) -> None:
    page = admin_page
    begin(page, "over-quota")
    for name in ("pytorch", "one-gpu"):
        page.get_by_role("radio", name=name, exact=True).check()
    page.get_by_label("Number of workers").fill("2")
    page.get_by_label("Number of workers").blur()
    summary = page.get_by_role("complementary", name="Summary")
    expect(summary).to_contain_text("1 over the quota of 2")


@pytest.mark.extended
def test_an_output_that_is_open_follows_what_is_entered(admin_page: Page) -> None:
    page = admin_page
    begin(page, "followed")
    workers = page.get_by_label("Number of workers")
    workers.fill("2")
    workers.blur()
    request = output(page, "yaml")
    expect(request).to_contain_text("numWorkers: 2")
    workers.fill("3")
    workers.blur()
    expect(request).to_contain_text("numWorkers: 3")
    expect(output(page, "line")).to_contain_text("--workers 3")


@pytest.mark.extended
def test_a_new_row_takes_the_cursor_once(admin_page: Page) -> None:
    """Who goes on to the next field at once stays there."""
    page = admin_page
    begin(page, "quick-hands")
    page.evaluate("""
        window.taken = 0;
        document.addEventListener("focusin", ({ target }) => {
          if (!target.id.endsWith("-0-name")) return;
          taken += 1;
          document.getElementById(target.id.replace(/name$/, "value")).focus();
        });
    """)
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click()
    expect(page.get_by_label("Value 1")).to_be_focused()
    expect(page.locator(".htmx-added, .htmx-settling, .htmx-request")).to_have_count(0)
    assert page.evaluate("taken") == 1


@pytest.mark.extended
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


@pytest.mark.extended
def test_choices_made_while_an_answer_is_on_its_way_are_kept(admin_page: Page) -> None:
    """The answer replaces the page, and with it what was chosen since."""
    page = admin_page
    page.goto("/workloads/new/")
    held: list[Route] = []

    def answer(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/1/", answer)
    with page.expect_request("**/1/"):
        page.get_by_role("radio", name="Workers only").check()
    page.get_by_role("radio", name="TensorFlow").check()
    page.get_by_role("radio", name="MPI").check()
    page.get_by_label("Name", exact=True).fill("chosen-meanwhile")
    line = output(page, "line")
    held[0].continue_()
    expect(line).to_contain_text("training mpi submit")
    page.reload()
    for name in ("Workers only", "MPI"):
        expect(page.get_by_role("radio", name=name)).to_be_checked()
    expect(page.get_by_label("Name", exact=True)).to_have_value("chosen-meanwhile")


@pytest.mark.extended
def test_a_script_that_comes_late_does_not_take_the_cursor_away(admin_page: Page) -> None:
    """The page works before its script is there; the script must not move who types already."""
    page = admin_page
    begin(page, "late-script")
    held: list[Route] = []
    page.route("**/js/wizard*.js", lambda route: held.append(route))
    page.goto(page.url, wait_until="commit")
    page.get_by_role("button", name="+ENVIRONMENT VARIABLE").click(no_wait_after=True)
    expect(page.get_by_label("Name 1")).to_be_focused()
    page.keyboard.type("SEED")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Value 1")).to_be_focused()
    held[-1].continue_()
    page.wait_for_load_state("load")
    page.keyboard.type("7")
    expect(page.get_by_label("Value 1")).to_have_value("7")
    expect(page.get_by_label("Name 1")).to_have_value("SEED")


@pytest.mark.extended
def test_a_tab_that_another_one_overtook_says_so_and_changes_nothing(admin_page: Page) -> None:
    page = admin_page
    begin(page, "in-two-tabs")
    other = page.context.new_page()
    other.goto(page.url)
    for tab in (page, other):
        expect(tab.get_by_label("Number of workers")).to_have_value("")
    other.get_by_label("Number of workers").fill("3")
    other.get_by_label("Number of workers").blur()
    told = page.get_by_role("alert").filter(has_text="changed in another tab or window")
    expect(told).to_be_visible()
    expect(page.locator("#wizard")).to_have_js_property("inert", True)
    told.get_by_role("link", name="Show the current version").click()
    expect(page.get_by_label("Number of workers")).to_have_value("3")
    other.close()
