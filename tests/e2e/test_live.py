"""Rows that change by themselves: by the stream, by polling where it is cut, and without loss."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.held import HELD, SOON, let_go
from tests.product import Trainyard
from tests.rest import Rest

pytestmark = pytest.mark.e2e


def test_a_row_changes_and_keeps_selection_and_focus(
    admin_page: Page, rest: Rest, running_trainyard: Trainyard
) -> None:
    page = admin_page
    workload = rest.submit("selected", workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto("/workloads/")
    row = page.locator(f"#w-{workload}")
    expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=SOON)
    box = row.get_by_role("checkbox")
    box.check()
    box.focus()
    let_go(running_trainyard, workload)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=SOON)
    expect(row.get_by_role("checkbox")).to_be_checked()
    expect(row.get_by_role("checkbox")).to_be_focused()


def test_a_rows_menu_stops_it(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("menu-stops-me", workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto("/workloads/")
    page.get_by_role("button", name="Actions on menu-stops-me").click()
    page.locator(".action-menu.show").get_by_role("link", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    row = page.locator(f"#w-{workload}")
    expect(row).to_have_attribute("data-phase", "Stopped", timeout=SOON)


@pytest.mark.extended
def test_an_answer_counts_though_the_page_changed_meanwhile(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("changes", workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/")
    stop = page.get_by_role("main").get_by_role("link", name="Stop")
    stop.click()
    stop.evaluate(
        "old => { const fresh = old.cloneNode(true); old.replaceWith(fresh); htmx.process(fresh); }"
    )
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    rest.wait(workload, "Stopped")


def test_a_queued_gang_says_why_and_starts_when_there_is_room(
    admin_page: Page, rest: Rest, running_trainyard: Trainyard
) -> None:
    """Two that do not fit together run one after the other; a gang never starts in part."""
    page = admin_page
    whole = {"gpuDevicesRequest": 1}
    first = rest.submit("came-first", command=HELD, compute=whole)
    rest.wait(first, "Running")
    second = rest.submit("came-second", command="sh -c 'echo mine now'", compute=whole)
    page.goto("/workloads/")
    row = page.locator(f"#w-{second}")
    expect(row).to_contain_text("Not enough free capacity", timeout=SOON)
    assert [pod["k8sPhase"] for pod in rest.pods(second)] == ["Pending"] * 3
    let_go(running_trainyard, first)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=SOON)
    ended = next(e for e in rest.events(first) if e["phase"] == "Completed")
    began = next(e for e in rest.events(second) if e["phase"] == "Initializing")
    assert began["createdAt"] >= ended["createdAt"]


COUNTED = """() => {
  window.rounds = 0;
  const told = document.createElement("i");
  told.dataset.live = "w-one";
  told.addEventListener("live", () => window.rounds++);
  document.body.append(told);
}"""
A_LATER_MOMENT = 3600  # seconds; until then the clock runs, after it only when told
TELL = "document.body.dispatchEvent(new CustomEvent('live-changed', {detail: {value: ['w-one']}}))"


@pytest.mark.extended
def test_changes_after_a_pause_appear_at_once_and_many_at_intervals(
    admin_page: Page,
) -> None:
    page = admin_page
    page.route("**/stream/**", lambda route: None)  # never answers, so nothing else is told
    page.clock.install(time=0)
    page.goto("/workloads/")
    page.evaluate(COUNTED)
    page.clock.pause_at(A_LATER_MOMENT)

    def rounds_after(milliseconds: int) -> int:
        page.evaluate(TELL)
        page.clock.run_for(milliseconds)
        return int(page.evaluate("window.rounds"))

    assert [rounds_after(20) for _ in range(4)] == [1, 2, 3, 3]
    assert rounds_after(250) == 4
    assert [rounds_after(20) for _ in range(20)][-1] <= 4 + 20 * 20 // 250 + 1


#: Another change is told right after the answer to the first one was put into the page, when what
#: was put there does not listen yet.
TELLS_TWICE = """name => {
  const change = () => new CustomEvent("live-changed", { detail: { value: [name] } });
  const tell = () => document.body.dispatchEvent(change());
  document.body.addEventListener("htmx:afterSwap", tell, { once: true });
  performance.clearResourceTimings();
  tell();
}"""
ASKED_TWICE = """() => performance.getEntriesByType("resource").filter(
  one => one.name.includes("/header/")).length === 2"""


@pytest.mark.extended
def test_a_change_that_follows_another_at_once_is_not_lost(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("changes-twice", workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/spec/")  # where only the head is live
    expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=SOON)
    page.wait_for_load_state("networkidle")
    page.evaluate(TELLS_TWICE, f"w-{workload}")
    page.wait_for_function(ASKED_TWICE)


@pytest.mark.extended
def test_a_change_leaves_an_answer_that_is_on_its_way(admin_page: Page, rest: Rest) -> None:
    """Or a slow server would never be heard while a training reports."""
    page = admin_page
    head = re.compile("/header/")
    workload = rest.submit("chatty", workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/spec/")
    expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=SOON)
    page.wait_for_load_state("networkidle")
    held = list[Route]()
    page.route(head, lambda route: held.append(route))
    tell = TELL.replace("'w-one'", f"'w-one', 'w-{workload}'")
    with page.expect_request(head):
        page.evaluate(tell)
    page.evaluate(COUNTED)
    page.evaluate(tell)
    page.wait_for_function("() => window.rounds === 1")
    assert len(held) == 1
    with page.expect_request(head):
        held[0].continue_()


@pytest.mark.extended
@pytest.mark.parametrize("is_there", [True, False])
def test_a_head_that_the_server_failed_to_answer_is_fetched_again(
    admin_page: Page,
    rest: Rest,
    running_trainyard: Trainyard,
    problems: list[str],
    is_there: bool,
) -> None:
    page = admin_page
    head = re.compile("/header/")
    workload = rest.submit(f"away-for-a-moment-{is_there}".lower(), workers=1, command=HELD)
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/spec/")
    expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=SOON)
    page.wait_for_load_state("networkidle")
    page.route(head, lambda route: route.fulfill(status=503) if is_there else route.abort())
    let_go(running_trainyard, workload)
    rest.wait(workload, "Completed")
    answered = "requestfinished" if is_there else "requestfailed"
    page.wait_for_event(answered, lambda request: "/header/" in request.url)
    page.unroute(head)
    expect(page.locator("#workload-head .chip").first).to_have_text("Completed", timeout=SOON)
    problems.clear()  # the answer that was not there
