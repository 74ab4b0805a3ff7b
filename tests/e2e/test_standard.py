"""A standard training in a real browser: one pod, from the first page to its end."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.walk import begin_workspace, command, make_compute_resource, make_environment
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.extended]


def workspace(page: Page, name: str) -> None:
    """One with all but a command."""
    begin_workspace(page, name)
    make_environment(page, f"of-{name}")  # of those that others made not all are in sight
    page.get_by_role("radio", name="cpu-only").check()


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
    command(page).fill("python -c \"print('on its own')\"")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    expect(page.get_by_text("Define a different setup for the master")).to_have_count(0)
    page.get_by_role("button", name="CREATE TRAINING").click()
    row = page.get_by_role("row").filter(has_text="alone")
    expect(row).to_contain_text("Completed", timeout=40_000)
    page.goto("/workloads/?columns=name,type,architecture")
    expect(row).to_contain_text("Standard training")


def test_a_workspace_is_there_until_it_is_stopped_and_comes_back(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    page.goto("/workloads/")
    page.get_by_role("button", name="+NEW WORKLOAD").click()
    page.get_by_role("link", name="Workspace", exact=True).click()
    expect(page.get_by_role("heading", name="New workspace")).to_be_visible()
    workspace(page, "desk")
    command(page).fill("sh -c 'date >> notes; wc -l < notes; sleep 600'")
    page.get_by_role("button", name="CREATE WORKSPACE").click()
    row = page.locator("tr[data-phase]").filter(has_text="desk")
    expect(row).to_have_attribute("data-phase", "Running", timeout=40_000)
    with Rest(running_trainyard) as rest:
        (desk,) = (it for it in rest.send("GET", "/workloads")["workloads"] if it["name"] == "desk")
        assert desk["type"] == "Workspace"
        page.goto(f"/workloads/{desk['id']}/")
        actions = page.get_by_role("main")
        actions.get_by_role("link", name="Stop").click()
        page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        actions.get_by_role("link", name="Run", exact=True).click(timeout=40_000)
        wait_for(lambda: rest.log(desk["id"]).strip() == "2", 40, "the second line of its notes")
        rest.send("DELETE", f"/workloads/workspaces/{desk['id']}")


def test_an_answer_that_comes_late_leads_nobody_away_from_what_was_created(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    workspace(page, "late")
    saving: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.is_navigation_request():
            saving.pop().fulfill(headers={"HX-Redirect": "/clusters/"})
            route.continue_()
        else:
            saving.append(route)

    page.route("**/2/", answer)
    with page.expect_request("**/2/"):
        command(page).fill("sleep 600")
    page.get_by_role("button", name="CREATE WORKSPACE").click()
    # Planned, written down, led away, drawn: more than five seconds where much else runs.
    expect(page.locator("tr[data-phase]").filter(has_text="late")).to_be_visible(timeout=40_000)
    with Rest(running_trainyard) as rest:
        (late,) = (it for it in rest.send("GET", "/workloads")["workloads"] if it["name"] == "late")
        rest.send("DELETE", f"/workloads/workspaces/{late['id']}")


def test_a_page_requested_before_the_last_answer_shows_saved_values(
    admin_page: Page,
) -> None:
    page = admin_page
    workspace(page, "reloaded")
    saving: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.is_navigation_request() and saving:
            older = route.fetch()
            saved = saving.pop()
            saved.fulfill(response=saved.fetch())
            route.fulfill(response=older)
        elif route.request.method == "POST":
            saving.append(route)
        else:
            route.continue_()

    page.route("**/2/", answer)
    with page.expect_request("**/2/"):
        command(page).fill("sleep 600")
    page.reload()
    expect(page.get_by_label("Command", exact=True)).to_have_value("sleep 600")
