"""The Logs tab: the search, and ways to a place in a log that is larger than a page."""

import re
import shlex

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.held import SOON
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


# The page holds 6,000 lines at most.
LARGE = "sh -c 'seq -f \"iteration %06.0f of many\" 1 60000'"
HALVES = 'seq -f "iteration %06.0f of many"'
PAUSED = f"sh -c '{HALVES} 1 30000; sleep 4; echo after the pause; {HALVES} 30001 60000'"
PRINTS = "sh -c 'echo printed by rank $RANK'"
# One rank prints: the first that fails ends the others, wherever they are.
ALONE = "test $RANK = 0 || exec sleep 60"
OUT = 'echo CUDA out of memory; seq -f "frame %.0f" 1 20; exit 1'
FAILS = f"sh -c '{ALONE}; {HALVES} 1 9000; {OUT}'"
# Soon after the field's time, as the field takes it.
LATER = """() => {
  const field = document.getElementById("log-moment");
  const then = new Date(new Date(field.value).valueOf() + 2500);
  return new Date(then - then.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}"""


def opened(page: Page, rest: Rest, name: str, command: str = LARGE, workers: int = 1) -> str:
    """The Logs tab of a workload that has printed all."""
    workload: str = rest.submit(name, workers=workers, command=command)
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/logs/")
    return workload


def hits(page: Page) -> Locator:
    return page.locator("#log-hits[role=status]")


def test_a_line_from_the_first_third_is_found(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = opened(page, rest, "searched")
    aimed = page.locator(".log-line.aimed")
    expect(page.get_by_text("iteration 060000 of many").first).to_be_visible(timeout=SOON)
    field = page.get_by_role("searchbox", name="Search the whole log")
    field.fill("ITERATION 00012")
    expect(hits(page)).to_have_text("1 of 20 lines", timeout=SOON)
    expect(aimed).to_contain_text("iteration 000120 of many")
    expect(aimed).to_be_in_viewport()
    expect(aimed.locator("mark")).to_have_text("iteration 00012")
    expect(page.get_by_text("iteration 000119 of many").first).to_be_visible()
    expect(page).to_have_url(re.compile(rf"/workloads/{workload}/logs/\?try=1-0&text=ITERATION"))
    field.press("Enter")
    expect(hits(page)).to_have_text("2 of 20 lines")
    page.get_by_role("button", name="Previous line with this text").click()
    page.get_by_role("button", name="Previous line with this text").click()
    expect(hits(page)).to_have_text("20 of 20 lines")
    expect(aimed).to_contain_text("iteration 000129 of many")
    page.reload()
    expect(hits(page)).to_have_text("20 of 20 lines", timeout=SOON)
    page.get_by_role("button", name="Follow").click()
    # After a reload the browser may leave the page at its top, with the end of the log below it.
    page.locator("[data-log-view]").evaluate("view => view.scrollIntoView({block: 'end'})")
    expect(page.get_by_text("iteration 060000 of many").first).to_be_in_viewport()


@pytest.mark.extended
def test_a_text_that_is_nowhere_is_told_at_the_end_only(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    opened(page, rest, "nowhere")
    field = page.get_by_role("searchbox", name="Search the whole log")
    field.fill("iteration 99")
    expect(hits(page)).to_have_text("No matching lines", timeout=SOON)
    page.get_by_role("checkbox", name="Only these lines").check()
    expect(page.locator(".log-note")).to_have_text("No matching lines", timeout=SOON)
    field.fill("iteration 00001")
    expect(page.locator(".log-line")).to_have_count(20, timeout=SOON)
    expect(hits(page)).to_have_text("1 of 20 lines")
    field.fill("iteration 00001 ")
    expect(hits(page)).to_have_text("No matching lines", timeout=SOON)
    field.fill("")
    expect(page.get_by_text("iteration 060000 of many").first).to_be_visible(timeout=SOON)


@pytest.mark.extended
def test_ways_to_the_start_the_end_and_a_time(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    zone = page.context.new_cdp_session(page)
    zone.send("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    opened(page, rest, "places", PAUSED)
    menu = page.locator("[data-log-places]")
    aimed = page.locator(".log-line.aimed")
    expect(page.get_by_text("iteration 060000 of many").last).to_be_in_viewport(timeout=SOON)

    def go(name: str) -> None:
        menu.locator("summary").click()
        menu.get_by_role("button", name=name, exact=True).click()

    go("Start")
    expect(page.get_by_text("iteration 000001 of many").first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "false")
    go("End")
    expect(page.get_by_text("iteration 060000 of many").last).to_be_in_viewport()
    go("Start")
    expect(page.get_by_text("iteration 000001 of many").first).to_be_in_viewport()
    # The field stands at the first line in view: soon after it the pause of the output begins.
    menu.locator("summary").click()
    page.locator("#log-moment").fill(page.evaluate(LATER))
    menu.get_by_role("button", name="Go", exact=True).click()
    expect(aimed).to_contain_text("after the pause")
    expect(aimed).to_be_in_viewport()
    expect(page.get_by_text("iteration 030000 of many").first).to_be_visible()


@pytest.mark.extended
def test_a_link_to_a_line_is_copied_and_opens_at_it(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    workload = opened(page, rest, "linked")
    page.get_by_role("searchbox", name="Search the whole log").fill("iteration 000012")
    aimed = page.locator(".log-line.aimed")
    expect(aimed).to_contain_text("iteration 000012", timeout=SOON)
    page.locator(".log-line", has_text="iteration 000014").first.locator(".log-time").click()
    expect(aimed).to_contain_text("iteration 000014")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(rf"/workloads/{workload}/logs/\?try=1-0&line=[01]\.[0-9a-z]+$", link)
    page.goto("/workloads/")
    page.goto(link)
    expect(aimed).to_contain_text("iteration 000014", timeout=SOON)
    expect(aimed).to_be_in_viewport()
    expect(page.get_by_text("iteration 000013 of many").first).to_be_visible()
    page.reload()
    expect(aimed).to_contain_text("iteration 000014", timeout=SOON)


@pytest.mark.extended
def test_the_first_error_of_a_long_log_is_gone_to(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload: str = rest.submit("fails", workers=1, command=FAILS, backoffLimit=0)
    rest.wait(workload, "Failed")
    wait_for(lambda: rest.read(workload)["failure"], 20, "its log to be read")
    page.goto(f"/workloads/{workload}/logs/")
    menu = page.locator("[data-log-places]")
    aimed = page.locator(".log-line.aimed")
    expect(page.get_by_text("frame 20").last).to_be_in_viewport(timeout=SOON)
    menu.locator("summary").click()
    menu.get_by_role("link", name="First error").click()
    expect(aimed).to_contain_text("CUDA out of memory", timeout=SOON)
    page.goto(f"/workloads/{workload}/")
    page.get_by_role("link", name="Open the log of").click()
    expect(aimed).to_contain_text("CUDA out of memory", timeout=SOON)
    expect(page).to_have_url(re.compile(rf"/{workload}/logs/\?.*line="))
    page.go_back()
    expect(page.get_by_role("link", name="Open the log of")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"/{workload}/$"))


@pytest.mark.extended
def test_ranks_are_shown_alone_all_and_none(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    opened(page, rest, "few", PRINTS)
    first = page.get_by_text("printed by rank 0")
    second = page.get_by_text("printed by rank 1")
    expect(second).to_be_visible(timeout=SOON)
    page.get_by_role("link", name="worker-0", exact=True).click()
    expect(first).to_have_count(0)
    expect(second).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?try=1-0&ranks=1$"))
    page.get_by_role("checkbox", name="worker-0").uncheck()
    expect(page.locator(".log-note")).to_have_text("No ranks selected")
    page.get_by_role("link", name="All", exact=True).click()
    expect(first).to_be_visible()


@pytest.mark.extended
def test_ranges_of_many_ranks(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    opened(page, rest, "many", PRINTS, workers=9)
    menu = page.locator("[data-log-ranks]")
    lines = page.locator(".log-line")
    expect(lines).to_have_count(10, timeout=SOON)
    menu.locator("summary").click()
    page.get_by_label("Ranks, such as 0-3,8").fill("0-3, 8")
    page.get_by_label("Ranks, such as 0-3,8").press("Enter")
    expect(lines).to_have_count(5)
    expect(menu.locator("summary")).to_contain_text("Ranks 0-3,8 (5 of 10)")
    expect(page).to_have_url(re.compile(r"\?try=1-0&ranks=0-3%2C8$"))
    menu.locator("summary").click()
    menu.get_by_role("link", name="None").click()
    expect(page.locator(".log-note")).to_have_text("No ranks selected")
    menu.get_by_role("checkbox", name="worker-0").check()
    menu.get_by_role("checkbox", name="worker-4").check()
    menu.get_by_role("button", name="Show").click()
    expect(lines).to_have_count(2)
    expect(lines.last).to_contain_text("worker-4")


BAR = """
import sys, time
for share in range(1, 4000):
    sys.stderr.write(f"\\rtraining: {share:4}/4000 {'█' * 60}")
    sys.stderr.flush()
    if share == 1000:
        print("\\nfirst epoch")
    time.sleep(0.002 if share < 1500 else 0.05)
"""


def test_a_progress_bar_is_redrawn_in_place(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("has-a-bar", workers=1, command=f"python -c {shlex.quote(BAR)}")
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/logs/?ranks=0")
    live = page.locator(".log-live .log-line")
    lines = page.locator(".log-view .log-line")
    expect(live).to_contain_text("training:", timeout=SOON)
    expect(page.get_by_text("first epoch")).to_be_visible(timeout=SOON)
    expect(live).to_contain_text("/4000", timeout=SOON)
    before = live.inner_text()
    wait_for(lambda: live.inner_text() != before)
    expect(lines).to_have_count(3)
    expect(lines.first).to_contain_text("training: 1000/4000")
    assert "\ufffd" not in page.locator(".log-view").inner_text()
    rest.act(workload, "suspend")
    rest.wait(workload, "Stopped")
    expect(live).to_have_count(0, timeout=SOON)
    expect(lines).to_have_count(3)
