"""On a screen of 400 px: tables fit, and what opens over the page takes the cursor along."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.held import HELD
from tests.e2e.walk import begin
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
LISTS = ("/clusters/", "/projects/", "/departments/", "/users/")
SIDEWAYS = "all => all.filter(it => it.scrollWidth > it.clientWidth).length"


def test_tables_fit_and_the_summary_and_the_navigation_lead_the_cursor(admin_page: Page) -> None:
    page = admin_page
    page.set_viewport_size({"width": 400, "height": 860})
    for address in LISTS:
        page.goto(address)
        expect(page.locator(".stacks tbody tr").first).to_be_visible()
        assert page.locator(".table-wrap").evaluate_all(SIDEWAYS) == 0, address
    page.get_by_role("button", name="Navigation").press("Enter")
    expect(page.locator("#sidebar a").first).to_be_focused()

    begin(page, "on-a-phone")
    opens = page.locator("#wizard-bar").get_by_role("link", name="Summary")
    closes = page.get_by_role("button", name="Close the summary")
    opens.press("Enter")
    expect(closes).to_be_focused()
    closes.press("Enter")
    expect(opens).to_be_focused()
    opens.press("Enter")
    closes.press("Escape")
    expect(closes).to_be_hidden()
    expect(opens).to_be_focused()


#: A row's status is beside its menu, both are on a page of 400 pixels, and nothing is beyond it.
FITS = """id => {
  const row = document.getElementById(id);
  const status = row?.querySelector(".status-cell .chip")?.getBoundingClientRect();
  const menu = row?.querySelector(".btn-icon")?.getBoundingClientRect();
  const table = document.querySelector(".table-wrap");
  return status && menu && status.width > 0 && status.right <= menu.left && menu.right <= 400
    && table.scrollWidth <= table.clientWidth;
}"""


def test_a_phone_shows_a_rows_status_whole(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    page.set_viewport_size({"width": 400, "height": 800})
    workload = rest.submit("a-name-that-is-as-long-as-many-are", workers=1, command=HELD)
    page.goto("/workloads/")
    page.wait_for_function(FITS, arg=f"w-{workload}")  # a row that changes is another element


def test_a_phone_shows_the_navigation_on_demand(admin_page: Page) -> None:
    page = admin_page
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/environments/")
    link = page.get_by_role("link", name="Projects")
    expect(link).not_to_be_visible()
    page.get_by_role("button", name="Navigation").click()
    link.click()
    expect(page.get_by_role("heading", name="Projects", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_ways_to_a_place_in_a_log_fit(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    width = 420
    page.set_viewport_size({"width": width, "height": 900})
    workload = rest.submit("fits", workers=1, command="echo short")
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/logs/")
    page.locator("[data-log-places] summary").click()
    for part in ("[data-log-places] .menu-body", "#log-moment", "[data-log-go=time]"):
        box = page.locator(part).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
