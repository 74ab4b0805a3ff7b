"""Charts of a training: smoothed, by a logarithmic scale, and a number where there is but one."""

import pytest
from playwright.sync_api import Page, expect

from tests.rest import Rest

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
