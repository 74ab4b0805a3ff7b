"""A shell beside a running rank, in the browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.rest import Rest

pytestmark = pytest.mark.e2e

SOON = 20_000  # milliseconds, on a busy machine


def test_a_shell_in_a_rank(rest: Rest, admin_page: Page) -> None:
    page = admin_page
    workload = rest.submit("entered", workers=1, command="sleep 600")
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/ranks/")
    page.get_by_role("link", name="Terminal in worker-0").click()
    page.get_by_role("button", name="Open terminal").click()
    status = page.locator("[data-terminal-status]")
    expect(status).to_have_text("Connected to worker-0", timeout=SOON)
    page.keyboard.type("echo $((6*7))-$RANK; stty size\n")
    screen = page.locator("[data-terminal-view] .xterm-rows")
    expect(screen).to_contain_text("42-1", timeout=SOON)
    rows = page.evaluate("document.querySelectorAll('.xterm-rows > div').length")
    expect(screen).to_contain_text(f"{rows} ")
    rest.act(workload, "suspend")
    expect(status).to_contain_text("worker-0", timeout=SOON)
    expect(page.get_by_role("button", name="Open terminal")).to_be_enabled(timeout=SOON)
    rest.wait(workload, "Stopped")
    expect(page.locator("#workload-head")).to_contain_text("Stopped", timeout=SOON)
    told = [event["message"] for event in rest.events(workload)]
    assert "Terminal opened in worker-0." in told
    assert any(text.startswith("Terminal closed in worker-0") for text in told)
