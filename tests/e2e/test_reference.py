"""The page of the API in a browser, under our Content-Security-Policy."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.e2e, pytest.mark.extended]


def test_the_reference_shows_a_call_and_is_dark_where_the_page_is(admin_page: Page) -> None:
    admin_page.goto("/api-reference/#/Distributed/create_distributed")
    call = admin_page.locator(".opblock.is-open")
    expect(call).to_contain_text("Submit a distributed training", timeout=20_000)
    root = admin_page.locator("html")
    expect(root).not_to_contain_class("dark-mode")
    admin_page.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
    expect(root).to_contain_class("dark-mode")
