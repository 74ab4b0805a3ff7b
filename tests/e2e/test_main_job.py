"""The main job: train a distributed PyTorch workload from the browser, on one machine.

The quickstart's "User Interface" steps, word for word, to the end of a real training; a training
that is stopped and goes on; and a stranger who sees none of it.
"""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import sign_in
from tests.e2e.walk import begin, make_compute_resource, make_environment
from tests.product import Trainyard
from tests.rest import Rest

pytestmark = pytest.mark.e2e

TRAINED = 120_000  # milliseconds; a busy machine trains slowly
SLOWLY = "--step-delay 0.05 --checkpoint-every 10 --epochs 8"
PASSWORD = "a stranger's long password"


def tab(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def test_the_quickstart_trains_one_master_and_two_workers(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    begin(page, "first-training")
    make_environment(page, "pytorch-dt")
    page.get_by_label("Number of workers").fill("2")
    make_compute_resource(page, "small-fraction-of-mine")
    summary = page.get_by_role("complementary", name="Summary")
    expect(summary.get_by_text("3 = 1 master + 2 workers")).to_be_visible()
    expect(summary.get_by_text("Starts immediately")).to_be_visible()
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    expect(page.get_by_label("Define a different setup for the master")).not_to_be_checked()
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")

    row = page.locator("tr[data-phase]").filter(has_text="first-training")
    expect(row).to_have_attribute("data-phase", "Running", timeout=TRAINED)
    expect(row.locator(".metrics-cell")).to_contain_text("loss", timeout=TRAINED)
    expect(row).to_have_attribute("data-phase", "Completed", timeout=TRAINED)

    tab(page, "Logs")  # in the drawer, which shows the new workload
    log = page.get_by_role("log")
    for name in ("master-0", "worker-0", "worker-1"):
        expect(log.get_by_text(name, exact=True).first).to_be_visible()
    expect(log.get_by_text("Test accuracy: 0.9")).to_be_visible()
    loss_fell(rest)
    tab(page, "Metrics")
    expect(page.get_by_text("Loss", exact=True)).to_be_visible()
    expect(page.locator("canvas").first).to_be_visible()


def loss_fell(rest: Rest) -> None:
    """The curve that the page draws starts high and ends low."""
    (workload,) = rest.send("GET", "/workloads?filterBy=name==first-training")["workloads"]
    assert [pod["exitCode"] for pod in rest.pods(workload["id"])] == [0, 0, 0]
    assert workload["lastMetrics"]["test_accuracy"] >= 0.95
    assert workload["lastMetrics"]["loss"] < 0.5


@pytest.mark.extended
def test_a_stopped_training_goes_on_from_its_last_step(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("stop-and-go", workers=1, args=SLOWLY)
    page.goto(f"/workloads/{workload}/")
    expect(page.get_by_text("accuracy").first).to_be_visible(timeout=TRAINED)
    page.get_by_role("link", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_role("link", name="Run", exact=True)).to_be_visible(timeout=TRAINED)
    stopped_at = rest.read(workload)["lastMetrics"]["step"]
    page.get_by_role("link", name="Run", exact=True).click()
    expect(page.get_by_text("Continued from step")).to_be_visible(timeout=TRAINED)
    chip = page.get_by_text("Continued from step").inner_text()
    assert int(chip.split()[-1]) >= stopped_at > 0
    rest.wait(workload, "Completed", timeout=TRAINED / 1000)
    expect(page.locator("#workload-head[data-settled]").get_by_text("run 2")).to_be_visible()


def test_a_workload_is_copied_with_a_change(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("copied", workers=1, command="sh -c 'echo once'")
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/")
    page.get_by_role("main").get_by_role("link", name="Copy & edit").click()
    page.wait_for_url("**/workloads/drafts/**")
    page.get_by_role("button", name="1 Setup").click()
    page.get_by_label("Name", exact=True).fill("copied-again")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    page.get_by_label("Number of workers").fill("2")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/?sel=*")
    row = page.locator("tr[data-phase]").filter(has_text="copied-again")
    expect(row).to_have_attribute("data-phase", "Completed", timeout=TRAINED)
    expect(row).to_contain_text("3/3 done")


def test_a_stranger_finds_nothing_of_it(
    admin_page: Page, rest: Rest, browser: Browser, running_trainyard: Trainyard
) -> None:
    workload = rest.submit("not-for-all", workers=1, command="sh -c 'echo private'")
    rest.wait(workload, "Completed")
    page = admin_page
    page.goto("/users/new/")
    page.get_by_label("Username").fill("stranger")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create user").click()
    expect(page.get_by_role("cell", name="stranger", exact=True)).to_be_visible()

    with browser.new_context(base_url=running_trainyard.url) as window:
        other = window.new_page()
        sign_in(other, "stranger", PASSWORD)
        other.goto("/workloads/")
        expect(other.get_by_text("not-for-all")).to_have_count(0)
        for part in ("", "logs/", "logs/lines/", "metrics/", "events/", "spec/", "ranks/", "menu/"):
            answer = other.goto(f"/workloads/{workload}/{part}")
            assert answer is not None
            assert answer.status == 404, part
            expect(other.get_by_text("private")).to_have_count(0)
