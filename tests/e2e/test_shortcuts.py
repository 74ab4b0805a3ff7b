"""Ways by keys: anywhere by a part of its name, and from row to row."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.held import HELD
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]


def test_a_part_of_a_name_opens_a_workload_or_page(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("far-away", workers=1, command=HELD)
    page.goto("/clusters/")
    page.keyboard.press("ControlOrMeta+k")
    palette = page.get_by_role("dialog", name="Go to")
    field = palette.get_by_role("combobox")
    expect(field).to_be_focused()
    page.keyboard.type("compute res")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Compute resources")
    field.fill("r-awa")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("far-away")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/workloads/{workload}/$"))
    page.get_by_role("button", name="Go to").click()
    field.fill("nothing of this name")
    expect(palette.get_by_text("No results.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile(r"/workloads/$"))


def test_keys_that_can_be_turned_off_open_and_select_rows(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    one, two = (rest.submit(name, workers=1, command=HELD) for name in ("keys-1", "keys-2"))
    page.goto("/workloads/?q=keys&sort=name")
    first = page.locator(f"#n-{one}")
    second = page.locator(f"#n-{two}")
    expect(second).to_be_visible()
    page.keyboard.press("j")
    expect(first).to_be_focused()
    page.keyboard.press("j")
    expect(second).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(f"#s-{two}")).to_be_checked()
    page.keyboard.press("k")
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile(rf"sel={one}&tab=logs$"))
    page.keyboard.press("Escape")
    expect(page.locator("#drawer-dialog")).to_be_hidden()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    sheet.get_by_label("Single-key shortcuts").uncheck()
    sheet.get_by_role("button", name="Close").click()
    page.keyboard.press("/")
    expect(page.locator("#search")).not_to_be_focused()
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("combobox", name="Page, workload or project")).to_be_focused()
