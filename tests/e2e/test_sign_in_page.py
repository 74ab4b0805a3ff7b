"""The door: what someone sees who is not signed in."""

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.e2e


def test_the_sign_in_page_opens(page: Page) -> None:
    answer = page.goto("/accounts/login/")
    assert answer is not None
    assert answer.status == 200
    assert page.locator("input[name=login]").is_visible()
