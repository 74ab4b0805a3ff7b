"""Making, changing and deleting an asset in the drawer, with mouse and keyboard."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e


def test_an_environment_from_the_gallery_and_back(admin_page: Page) -> None:
    page = admin_page
    page.goto("/environments/")
    page.get_by_role("link", name="+New environment").first.click()
    drawer = page.get_by_role("dialog", name="Details")
    drawer.get_by_role("button", name="Create environment").click()
    expect(drawer.get_by_text("Name is required.")).to_be_visible()
    drawer.get_by_label("Name").first.fill("from-the-drawer")
    drawer.get_by_label("Image URL").fill("python:3.12")
    drawer.get_by_text("Runtime settings").click()
    drawer.get_by_role("button", name="+Environment variable").click()
    page.keyboard.type("EPOCHS")
    drawer.get_by_label("Value", exact=True).fill("3")
    drawer.get_by_role("button", name="Create environment").click()
    expect(page.get_by_text("The environment from-the-drawer was created.")).to_be_visible()
    card = page.get_by_role("article").filter(has_text="from-the-drawer")
    expect(card).to_contain_text("1 variable")
    expect(drawer).not_to_be_visible()

    card.get_by_role("link", name="from-the-drawer").click()
    expect(drawer.get_by_text("image: python:3.12")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).not_to_be_visible()
    expect(card.get_by_role("link", name="from-the-drawer")).to_be_focused()

    page.keyboard.press("Enter")
    drawer.get_by_role("link", name="Delete").click()
    drawer.get_by_role("button", name="Delete environment").click()
    expect(card).not_to_be_visible()
    expect(page.get_by_text("was deleted.")).to_be_visible()


@pytest.mark.extended
def test_the_chosen_theme_stays(admin_page: Page) -> None:
    page = admin_page
    page.goto("/environments/")
    root = page.locator("html")
    page.get_by_role("button", name="Account menu").click()
    page.get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-bs-theme", "dark")


@pytest.mark.extended
def test_escape_closes_a_menu_and_gives_the_focus_back(admin_page: Page) -> None:
    page = admin_page
    page.goto("/workloads/")
    columns = page.locator("summary").filter(has_text="Columns")
    columns.press("Enter")
    expect(page.get_by_role("button", name="Apply")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("details.menu[open]")).to_have_count(0)
    expect(columns).to_be_focused()
