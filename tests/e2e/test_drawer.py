"""The drawer beside the table: it has an address, and keys lead from one workload to the next."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.held import HELD
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
CHANGED = """value => {
    document.body.addEventListener("htmx:afterSettle", () => (window.settled = true));
    document.body.dispatchEvent(new CustomEvent("live-changed", { detail: { value } }));
}"""


def test_the_drawer_has_an_address(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    names = ["beside-1", "beside-2"]
    older, newer = (rest.submit(name, workers=1, command=HELD) for name in names)
    page.goto("/workloads/?q=beside&sort=-name")
    drawer = page.get_by_role("dialog")
    page.get_by_role("link", name="beside-2").click()
    expect(page).to_have_url(re.compile(rf"q=beside&sort=-name&sel={newer}$"))
    drawer.get_by_role("link", name="Event history").click()
    expect(page).to_have_url(re.compile(rf"sel={newer}&tab=events$"))
    page.reload()
    expect(drawer.get_by_role("heading", name="beside-2")).to_be_focused()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(rf"sel={older}&tab=events$"))
    expect(drawer.get_by_role("heading", name="beside-1")).to_be_focused()
    expect(drawer.get_by_role("button", name="Next workload")).to_be_disabled()
    drawer.get_by_role("button", name="Previous workload").click()
    expect(drawer.get_by_role("heading", name="beside-2")).to_be_visible()
    page.go_back()
    expect(drawer).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/workloads/\?q=beside&sort=-name$"))
    page.go_forward()
    expect(drawer.get_by_role("heading", name="beside-2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/workloads/\?q=beside&sort=-name$"))


def test_a_drawer_on_a_wide_screen_leaves_the_table_in_use(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1440, "height": 900})
    one, two = (rest.submit(name, workers=1, command=HELD) for name in ("wide-1", "wide-2"))
    page.goto("/workloads/?q=wide&sort=name")
    title = page.get_by_role("dialog").get_by_role("heading", level=2)
    page.get_by_role("link", name="wide-1").click()
    expect(title).to_have_text("wide-1")
    page.get_by_role("link", name="wide-2").click()
    expect(title).to_have_text("wide-2")
    expect(page).to_have_url(re.compile(rf"sel={two}$"))
    page.locator(f"#s-{one}").check()
    page.keyboard.press("k")
    expect(title).to_have_text("wide-2")
    page.locator(f"#n-{two}").focus()
    page.keyboard.press("k")
    expect(title).to_have_text("wide-1")
    page.keyboard.press("Escape")
    expect(title).to_be_hidden()
    expect(page).to_have_url(re.compile(r"q=wide&sort=name$"))


WHOLE = """row => {
  const cell = document.querySelector(`${row} .status-cell`);
  const edge = document.getElementById("drawer-dialog").getBoundingClientRect().left;
  const parts = [cell, ...cell.querySelectorAll(".chip, .cause")]
    .map(it => it.getBoundingClientRect());
  return parts.every(it => it.width > 0 && it.right <= Math.min(parts[0].right + 1, edge));
}"""


def test_the_cause_stays_whole_beside_a_drawer(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    page.set_viewport_size({"width": 1400, "height": 900})
    fails = "sh -c 'exit 3'"
    workload = rest.submit("told-beside-a-drawer", workers=1, command=fails, backoffLimit=0)
    rest.wait(workload, "Failed")
    page.goto("/workloads/?q=told-beside")
    expect(page.locator(f"#w-{workload} .cause")).to_contain_text("exited with code 3")
    page.get_by_role("link", name="told-beside-a-drawer").click()
    expect(page.locator("dialog.docked[open]")).to_be_visible()
    page.wait_for_function(WHOLE, arg=f"#w-{workload}")


def test_keys_pressed_while_a_drawer_opens_are_not_lost(
    admin_page: Page, rest: Rest, problems: list[str]
) -> None:
    page = admin_page
    names = ["quick-1", "quick-2", "quick-3", "quick-4"]
    quick = {name: rest.submit(name, workers=1, command=HELD) for name in names}
    page.goto("/workloads/?q=quick&sort=-name")
    page.get_by_role("link", name="quick-4").click()
    title = page.get_by_role("dialog").get_by_role("heading", level=2)
    expect(title).to_have_text("quick-4")
    press = """(node, keys) => keys.forEach((key) =>
        node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    title.evaluate(press, ["j", "j", "j"])
    expect(title).to_have_text("quick-1")
    title.evaluate(press, ["k", "j", "k"])
    expect(title).to_have_text("quick-2")

    page.route(f"**/workloads/{quick['quick-3']}/", lambda route: route.abort())
    title.evaluate(press, ["k"])
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    page.unroute_all()
    title.evaluate(press, ["k"])
    expect(title).to_have_text("quick-3")
    assert problems, "an aborted request is an error on the console"
    problems.clear()


def test_a_part_that_is_fetched_while_a_drawer_opens_takes_no_key(
    admin_page: Page, rest: Rest
) -> None:
    page = admin_page
    names = ["brisk-1", "brisk-2", "brisk-3", "brisk-4"]
    brisk = {name: rest.submit(name, workers=1, command=HELD) for name in names}
    page.goto("/workloads/?q=brisk&sort=-name")
    page.get_by_role("link", name="brisk-4").click()
    title = page.get_by_role("dialog").get_by_role("heading", level=2)
    expect(title).to_have_text("brisk-4")
    page.wait_for_load_state("networkidle")
    held = list[Route]()
    next_drawer = f"**/workloads/{brisk['brisk-3']}/"
    page.route(next_drawer, lambda route: held.append(route))
    with page.expect_request(next_drawer):
        page.keyboard.press("j")
    page.evaluate(CHANGED, [f"w-{brisk['brisk-4']}"])
    page.wait_for_function("() => window.settled")
    page.keyboard.press("j")
    page.keyboard.press("j")
    held[0].continue_()
    expect(title).to_have_text("brisk-1")
