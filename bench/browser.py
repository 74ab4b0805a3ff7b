"""Signs a browser in."""

from playwright.sync_api import Browser, StorageState

from tests.product import Trainyard

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def sign_in(browser: Browser, trainyard: Trainyard) -> StorageState:
    """Sign in as the administrator, and return the session's cookies, which any number of windows
    can use."""
    context = browser.new_context(base_url=trainyard.url)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(trainyard.username)
    page.locator("input[name=password]").fill(trainyard.password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url("**/workloads/")
    state = context.storage_state()
    context.close()
    return state
