"""The table stays true while somebody works with it."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.held import HELD, SOON, let_go
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
PRINTS_LAST = """sh -c 'until test -e $CHECKPOINT_DIR/go; do sleep 0.1; done;
echo "{\\"step\\": 900, \\"loss\\": 0.25}"'"""


def live(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=SOON)


def test_a_row_with_an_open_menu_changes_and_says_so(
    admin_page: Page, rest: Rest, running_trainyard: Trainyard
) -> None:
    page = admin_page
    workload = rest.submit("ends-while-open", workers=1, command=PRINTS_LAST)
    rest.wait(workload, "Running")
    page.goto("/workloads/?f=creator:is:admin")
    live(page)
    row = page.locator(f"#w-{workload}")
    menu = page.locator(".action-menu.show")
    page.get_by_role("button", name="Actions on ends-while-open").click()
    expect(menu.get_by_role("link", name="Stop")).to_be_visible()
    let_go(running_trainyard, workload)
    expect(row.locator(".status-cell")).to_contain_text("Completed", timeout=SOON)
    expect(row.locator(".metrics-cell")).to_contain_text("900")
    expect(row).to_contain_text("2/2 done")
    expect(menu.get_by_role("link", name="Copy & edit")).to_be_visible()
    expect(menu.get_by_role("link", name="Stop")).to_have_count(0)
    expect(page.locator("#status")).to_have_text("ends-while-open completed")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Actions on ends-while-open")).to_be_focused()
    expect(row).to_have_attribute("data-settled", "", timeout=SOON)


def test_a_page_whose_stream_is_cut_says_as_of_when_it_is(
    admin_page: Page, rest: Rest, problems: list[str]
) -> None:
    page = admin_page
    stream = re.compile(r"/stream/")
    mark = page.locator("[data-live-mark]")
    status = page.locator("#status")

    def cut(route: Route) -> None:
        route.abort()

    page.route(stream, cut)
    page.goto("/workloads/")
    expect(mark).to_have_text(
        re.compile(r"^Reconnecting, as of \d+:\d\d:\d\d( [AP]M)?$"), timeout=SOON
    )
    expect(status).to_contain_text("Reconnecting, as of")
    workload = rest.submit("made-meanwhile", workers=1, command=HELD)
    expect(page.locator(f"#w-{workload}")).to_be_visible(timeout=SOON)
    page.unroute(stream, cut)
    expect(mark).to_have_text("Live", timeout=SOON)
    expect(status).to_have_text("Live again")
    page.goto("about:blank")  # from here on the console is still
    assert all("/stream/" in problem for problem in problems), problems
    problems.clear()


def test_new_rows_are_shown_in_the_table_that_one_watches(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    first = rest.submit("sweep-1", workers=1, command=HELD)
    page.goto("/workloads/?q=sweep&sort=name&columns=status,name")
    live(page)
    head = page.locator(".workloads-table thead").inner_text()
    second = rest.submit("sweep-2", workers=1, command=HELD)
    rest.submit("of-another-kind", workers=1, command=HELD)
    page.get_by_role("button", name="1 new – show").click()
    expect(page.locator("[data-rows-body] tr")).to_have_count(2)
    for workload in (first, second):
        expect(page.locator(f"#w-{workload}")).to_be_visible()
    assert page.locator(".workloads-table thead").inner_text() == head
    expect(page.locator("#search")).to_have_value("sweep")
    expect(page).to_have_url(re.compile(r"/workloads/\?q=sweep&sort=name&columns=status,name$"))


LONG = """() => {
  const body = document.querySelector("[data-rows-body]");
  for (let n = 0; n < 40; n++) body.append(body.rows[0].cloneNode(true));
}"""
IN_SIGHT = """() => {
  scrollTo(0, 900);
  const head = document.querySelector(".workloads-table th:nth-child(2)");
  const box = head.getBoundingClientRect();
  const at = document.elementFromPoint(box.x + 5, box.y + box.height / 2);
  return head.contains(at) && box.top < innerHeight / 2;
}"""


@pytest.mark.parametrize("width", [1440, 800])
def test_the_columns_heads_stay_in_sight(admin_page: Page, rest: Rest, width: int) -> None:
    page = admin_page
    page.set_viewport_size({"width": width, "height": 700})
    rest.submit("one-of-many", workers=1, command=HELD)
    page.goto("/workloads/")
    page.evaluate(LONG)
    page.locator(".table-wrap").evaluate("wrap => wrap.scrollTo(0, 500)")
    page.wait_for_function(IN_SIGHT)


def test_columns_are_moved_applied_and_reset(admin_page: Page) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1440, "height": 620})
    page.goto("/workloads/?q=nothing-is-called-this")
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name="Move Status up").click()
    apply = page.get_by_role("button", name="Apply", exact=True)
    box = apply.bounding_box()
    assert box
    assert box["y"] + box["height"] < 620, "it is there without scrolling"
    apply.click()
    expect(page).to_have_url(re.compile("columns=status,name,gpus,"))
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("link", name="Reset").click()
    expect(page).to_have_url(re.compile(r"q=nothing-is-called-this$"))


def test_rows_are_one_line_each_as_long_as_that_is_wanted(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    command = "sh -c 'echo why it failed is told in more than a few words; exit 3'"
    workload = rest.submit("tall", workers=1, command=command, backoffLimit=1)
    rest.wait(workload, "Failed")
    page.goto("/workloads/?f=creator:is:admin")
    button = page.get_by_role("button", name="Compact")
    row = page.locator(f"#w-{workload}")

    def height() -> float:
        box = wait_for(row.bounding_box, message="the row")  # none while a change replaces it
        assert box
        return box["height"]

    tall = height()
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    assert height() < min(tall, 40)
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert height() < min(tall, 40)
    button.click()
    assert height() == tall
