"""Charts of a training: smoothed, by a logarithmic scale, and a number where there is but one."""

import re
import shlex

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
#: How many charts over steps the library still has.
LISTED = """async () => {
  const names = performance.getEntriesByType("resource").map((entry) => entry.name);
  const library = await import(names.find((name) => name.includes("uPlot.esm")));
  return library.default.sync("step").plots.length;
}"""
PRINTS = """sh -c 'for s in 1 2 3 4; do
echo "{\\"step\\": $s, \\"loss\\": 1.$s, \\"delta\\": -$s}"; done;
echo "{\\"step\\": 4, \\"test_accuracy\\": 0.75}"'"""


def test_charts_are_drawn_as_their_reader_chooses(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("has-charts", workers=1, command=PRINTS)
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/metrics/")
    charts = page.locator("[data-chart-group=training]")
    expect(charts.get_by_role("heading", name="Loss", exact=True)).to_be_visible()
    expect(charts.get_by_text("0.75 at step 4")).to_be_visible()
    expect(charts.locator("canvas")).to_have_count(2)
    page.get_by_label("Log scale").check()
    expect(charts.get_by_role("heading", name="Loss log scale")).to_be_visible()
    expect(charts.get_by_role("heading", name="delta", exact=True)).to_be_visible()
    page.get_by_label("Smoothing").select_option("Strong")
    page.reload()
    expect(charts.get_by_role("heading", name="Loss smoothed, log scale")).to_be_visible()
    expect(charts.get_by_role("heading", name="delta smoothed")).to_be_visible()


def test_charts_that_were_drawn_anew_are_let_go(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("draws-again", workers=1, command=PRINTS)
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/metrics/")
    charts = page.locator("[data-chart-group=training]")
    expect(charts.locator("canvas")).to_have_count(2)
    for smoothing in ("Strong", "None", "Strong"):
        page.get_by_label("Smoothing").select_option(smoothing)
        suffix = "" if smoothing == "None" else " smoothed"
        heading = charts.get_by_role("heading", name=f"delta{suffix}", exact=True)
        expect(heading).to_be_visible()
    expect(charts.locator("canvas")).to_have_count(2)
    assert page.evaluate(LISTED) == 2


BAR = """
import json, sys, time
for step in range(1, 13):
    sys.stderr.write(f"\\r{step * 8}%|{'#' * step}| {step}/12 [00:01<00:05, 1.00it/s]")
    sys.stderr.flush()
    loss = float("nan") if 5 <= step <= 7 or step > 10 else 1 / step
    print(json.dumps({"step": step, "loss": loss, "constant": 22.5}), flush=True)
"""


def test_a_metric_beside_a_bar_has_a_gap_where_it_is_nan(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("has-a-bar", workers=1, command=f"python -c {shlex.quote(BAR)}")
    rest.wait(workload, "Completed")
    page.goto(f"/workloads/{workload}/metrics/")
    expect(page.get_by_text("loss is NaN since step 11")).to_be_visible()
    charts = page.locator("[data-chart-group=training]")
    expect(charts.get_by_role("figure", name="Loss: last NaN")).to_be_visible()
    found = page.request.get(f"/workloads/{workload}/metrics/data/").json()["training"]
    loss = next(chart for chart in found if chart["name"] == "loss")
    assert len(loss["lines"][0]["x"]) == 12
    assert [at for at, _ in loss["marks"]] == [5, 6, 7, 11, 12]
    page.get_by_label("Smoothing").select_option("Strong")
    expect(charts.get_by_role("heading", name="Loss smoothed")).to_be_visible()


ENDLESS = """
import json, time
for step in range(1000):
    print(json.dumps({"step": step, "loss": 1 / (step + 1)}), flush=True)
    time.sleep(0.2)
"""
STEPS_IN_VIEW = """async () => {
  const names = performance.getEntriesByType("resource").map((entry) => entry.name);
  const library = await import(names.find((name) => name.includes("uPlot.esm")));
  const [plot] = library.default.sync("step").plots;
  return [plot.scales.x.min, plot.scales.x.max];
}"""


def drag_over_a_third(page: Page, chart: Locator) -> None:
    """Zoom into the beginning of a chart."""
    box = chart.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 10, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3, middle, steps=5)
    page.mouse.up()


def test_a_zoom_stays_while_the_training_runs(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    workload = rest.submit("is-zoomed", workers=1, command=f"python -c {shlex.quote(ENDLESS)}")
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/metrics/")
    chart = page.locator("[data-chart-group=training] .u-over").first
    expect(chart).to_be_visible()
    wait_for(lambda: page.evaluate(STEPS_IN_VIEW)[1] > 20)
    drag_over_a_third(page, chart)
    expect(page).to_have_url(re.compile("from=.*to="))
    low, high = page.evaluate(STEPS_IN_VIEW)
    assert high < 20
    for _ in range(2):
        with page.expect_response(re.compile("metrics/data/.*from=")):
            pass
    assert page.evaluate(STEPS_IN_VIEW) == [low, high]
    page.reload()
    expect(chart).to_be_visible()
    wait_for(lambda: page.evaluate(STEPS_IN_VIEW) == [low, high])
    chart.dblclick()
    wait_for(lambda: page.evaluate(STEPS_IN_VIEW)[1] > 20)
    expect(page).not_to_have_url(re.compile("from="))
    rest.act(workload, "suspend")


REPORTS = """sh -c 'for s in 1 2 3 4 5; do
echo "{\\"step\\": $s, \\"loss\\": 1.$s, \\"val_loss\\": 2.$s, \\"lr\\": 0.5}"; done' """


def test_two_workloads_are_compared_and_their_charts_are_read(admin_page: Page, rest: Rest) -> None:
    page = admin_page
    for name, rate in (("lr-small", "1e-3"), ("lr-large", "1e-2")):
        workload = rest.submit(name, workers=1, command=REPORTS, args=f"--lr {rate}")
        rest.wait(workload, "Completed")
    page.goto("/workloads/?q=lr-")
    compare = page.get_by_role("button", name="Compare")
    page.get_by_label("Select lr-small").check()
    expect(compare).to_be_disabled()
    page.get_by_label("Select lr-large").check()
    page.locator("h1").click()
    page.keyboard.press("c")
    page.wait_for_url("**/workloads/compare/?ids=*")
    fields = page.locator("table", has_text="args --lr")
    expect(fields).to_contain_text("1e-3")
    expect(fields).to_contain_text("1e-2")
    charts = page.locator("[data-chart-group=training] .chart")
    expect(charts).to_have_count(3)
    lr = page.get_by_role("figure", name="lr:")
    lr.hover()
    page.keyboard.press("p")
    expect(charts.first).to_contain_text("lr")
    page.keyboard.press("t")
    expect(page).to_have_url(re.compile("x=relative"))
    page.keyboard.press("t")
    page.keyboard.press("t")
    charts.first.hover()
    page.keyboard.press("f")
    dialog = page.get_by_role("dialog", name="lr")
    dialog.get_by_text("Values").click()
    expect(dialog.locator(".grid-table tr")).to_have_count(6)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("val")
    expect(page.locator(".chart:visible")).to_have_count(1)
    page.reload()
    expect(page.locator(".chart:visible")).to_have_count(1)
    val_loss = page.get_by_role("figure", name="val_loss:")
    val_loss.get_by_title("Save", exact=True).click()
    with page.expect_download() as saved:
        val_loss.get_by_role("link", name="CSV").click()
    assert len(saved.value.path().read_text().splitlines()) == 1 + 2 * 2 * 5
    val_loss.get_by_title("Save", exact=True).click()
    with page.expect_download() as saved:
        val_loss.get_by_role("button", name="PNG").click()
    assert saved.value.suggested_filename == "val_loss.png"
