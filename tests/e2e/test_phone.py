"""On a screen of 400 px: tables fit, and what opens over the page takes the cursor along."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.walk import begin

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
