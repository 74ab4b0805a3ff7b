"""A selection outlives its page: it is kept while one pages, and can be all that match."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.held import HELD, SOON
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
MANY = 52  # two on the second page
ONE_GPU = {"gpuDevicesRequest": 1}


def submit(rest: Rest, name: str, workers: int = 1) -> str:
    """Submit a training of one GPU a rank."""
    return rest.submit(name, workers=workers, noMaster=True, command=HELD, compute=ONE_GPU)


@pytest.fixture
def many(rest: Rest) -> Rest:
    """Workloads that wait, which costs nothing: another one holds all GPUs."""
    submit(rest, "holds-all", workers=4)
    for number in range(MANY):
        submit(rest, f"many-{number:02d}")
    return rest


def test_a_selection_is_kept_over_pages_and_becomes_all_that_match(
    admin_page: Page, many: Rest
) -> None:
    page = admin_page
    page.goto("/workloads/?q=many&sort=name")
    bar = page.locator("[data-bulk-bar]")
    all_here = page.locator("[data-select-all]")
    following = page.get_by_role("link", name="Next", exact=True)
    of_all = bar.get_by_role("button", name=f"Select all {MANY} that match")
    all_here.check()
    expect(bar).to_contain_text("50 selected")
    following.click()
    expect(bar).to_contain_text("50 selected (50 on other pages)")
    expect(all_here).not_to_be_checked()
    page.get_by_role("checkbox", name="Select many-51").check()
    expect(bar).to_contain_text("51 selected (50 on other pages)")
    page.get_by_role("link", name="Previous", exact=True).click()
    expect(bar).to_contain_text("51 selected (1 on other pages)")
    expect(all_here).to_be_checked()
    of_all.click()
    expect(bar).to_contain_text(f"All {MANY} selected")
    following.click()
    box = page.get_by_role("checkbox", name="Select many-50")
    expect(box).to_be_checked()
    box.uncheck()
    expect(bar).to_contain_text("1 selected")
    all_here.check()
    of_all.click()
    delete_all(page, many)


def delete_all(page: Page, rest: Rest) -> None:
    """Delete all that match, of which there is one more than the page knows."""
    bar = page.locator("[data-bulk-bar]")
    submit(rest, "many-that-came-late")
    bar.get_by_role("button", name="Delete").click()
    question = page.get_by_role("dialog", name=f"Delete {MANY + 1} workloads?")
    question.get_by_role("button", name="Delete").click()
    outcome = page.get_by_role("dialog", name="Details")
    expect(outcome).to_contain_text("All accepted", timeout=SOON)
    outcome.get_by_role("link", name="Close").click()
    expect(bar).to_be_hidden()
    page.goto("/workloads/?q=many")
    expect(page.get_by_role("heading", name="No workload matches")).to_be_visible(timeout=SOON)


def test_another_search_ends_a_selection(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    one = rest.submit("picked", workers=1, command=HELD)
    page.goto("/workloads/?q=pick&sort=name")
    bar = page.locator("[data-bulk-bar]")
    box = page.locator(f"#s-{one}")
    box.check()
    page.get_by_role("link", name="Status", exact=True).click()
    expect(page.locator("[aria-sort]")).to_contain_text("Status")
    expect(box).to_be_checked()
    page.locator("#search").fill("picked")
    expect(page.locator("#workloads")).to_have_attribute("data-search", "picked")
    expect(box).not_to_be_checked()
    expect(bar).to_be_hidden()
