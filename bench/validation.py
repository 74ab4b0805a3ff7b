"""Measures the round trip of one validation in a real browser, when a field of the wizard
is left."""

from collections.abc import Iterator

from playwright.sync_api import Page, Response, sync_playwright

from bench.browser import ARGUMENTS, sign_in
from bench.report import Measurement, percentile
from tests.browser import executable
from tests.product import Trainyard

CHANGES = 60


def rows(trainyard: Trainyard) -> Iterator[Measurement]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        page = browser.new_page(base_url=trainyard.url, storage_state=sign_in(browser, trainyard))
        page.goto("/workloads/new/")
        page.get_by_label("Name", exact=True).fill("validated")
        page.get_by_role("button", name="CONTINUE").click()
        times = [_change(page, str(n % 9 + 2)) for n in range(CHANGES)]
        browser.close()
    yield Measurement(
        what=f"Draft validation round trip on leaving a field, p95 of {CHANGES}",
        ours=percentile(times, 0.95),
        unit="ms",
        limit=100,
    )


def _change(page: Page, value: str) -> float:
    """Return the milliseconds from the request to the end of the answer, by the browser's clock."""
    field = page.get_by_label("Number of workers")
    with page.expect_response(_is_validation) as answer:
        field.fill(value)
        field.blur()
    response = answer.value
    response.finished()
    timing = response.request.timing
    return timing["responseEnd"] - timing["requestStart"]


def _is_validation(response: Response) -> bool:
    return response.request.method == "POST" and "/workloads/drafts/" in response.url
