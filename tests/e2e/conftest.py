"""A real browser. A test also fails if the browser's console reports an error."""

import re
from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from config.run.install import ROOT
from tests.browser import executable
from tests.product import Trainyard
from tests.rest import Rest

SCREENSHOTS = ROOT / "test-results"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# Messages that mean no error. A refused form answers 422, which the browser reports as a failed
# load. Leaving a page aborts what it was fetching, which htmx logs as an error; errors of the
# network also cause sendError. Chromium drops what it loads when an interface of the machine comes
# or goes, such as that of a pod.
EXPECTED = re.compile(
    r"\b422\b|htmx:sendAbort|htmx:afterRequest|ERR_NETWORK_CHANGED|"
    r"escaping deep link whitespace"  # Swagger UI, about any name with an underscore
)
failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[failed] = item.stash.get(failed, False) or report.failed
    return report


# Not for the whole session, because Django refuses its database while Playwright runs in this
# thread.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = executable()
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


@pytest.fixture
def problems() -> list[str]:
    """What the console reported as errors. A test that expects one removes it."""
    return []


@pytest.fixture
def page(
    browser: Browser,
    running_trainyard: Trainyard,
    problems: list[str],
    request: pytest.FixtureRequest,
) -> Iterator[Page]:
    """A new browser window, in which nobody is signed in. ``page.goto("/")`` opens the product's
    first page."""
    # Without motion, what runs need not be drawn again and again while a test waits for it.
    context = browser.new_context(
        base_url=running_trainyard.url,
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(10_000)
    page = context.new_page()

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not EXPECTED.search(message.text):
            problems.append(f"{message.text} ({message.location.get('url', '')})")

    page.on("console", note)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    if request.node.stash.get(failed, False) or problems:
        name = re.sub(r"[^\w.-]+", "_", request.node.nodeid)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    context.close()
    assert not problems, "the browser's console says:\n" + "\n".join(problems)


@pytest.fixture(scope="package")
def admin_cookies(running_trainyard: Trainyard) -> dict[str, str]:
    """The cookies of one session for all tests, except those about signing in."""
    return running_trainyard.sign_in()


@pytest.fixture
def admin_page(page: Page, running_trainyard: Trainyard, admin_cookies: dict[str, str]) -> Page:
    """A window in which the first administrator is signed in, with no page open yet."""
    url = running_trainyard.url
    page.context.add_cookies(
        [{"name": it, "value": admin_cookies[it], "url": url} for it in admin_cookies]
    )
    return page


@pytest.fixture
def rest(running_trainyard: Trainyard) -> Iterator[Rest]:
    """A caller of REST. All workloads are deleted afterwards."""
    with Rest(running_trainyard) as rest:
        yield rest
        rest.delete_all()


def sign_in(page: Page, username: str, password: str) -> None:
    """Sign in by the form."""
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(username)
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)
