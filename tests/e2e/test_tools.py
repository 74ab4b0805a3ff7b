"""CONNECT opens what a rank serves, at an address of its own."""

import json
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.product import Trainyard, free_port
from tests.rest import Rest

pytestmark = pytest.mark.e2e

SERVE = (
    "sh -c '[ $RANK = 0 ] && exec {python} -m http.server --bind 127.0.0.1 {port}; exec sleep 600'"
)


def test_connect_opens_a_tool(rest: Rest, admin_page: Page, running_trainyard: Trainyard) -> None:
    page = admin_page
    port = free_port()
    tool = {"name": "Files", "toolType": "custom", "containerPort": port}
    command = SERVE.format(python=sys.executable, port=port)
    workload = rest.submit("served", workers=1, command=command, connections=[tool])
    rest.wait(workload, "Running")
    page.goto(f"/workloads/{workload}/")
    page.get_by_role("link", name="Connect", exact=True).click()
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Connect to Files").click()
    opened = popup.value
    expect(opened.get_by_role("heading", name="Directory listing for /")).to_be_visible()
    host = f"files-{workload.replace('-', '')}.localhost"
    assert opened.url == f"http://{host}:{running_trainyard.port}/"
    # It has none of our cookies, and cannot read what we serve.
    assert opened.evaluate("document.cookie") == ""
    address = json.dumps(f"{running_trainyard.url}/workloads/")
    read = f"fetch({address}, {{credentials: 'include'}}).then(() => 'read', () => 'kept away')"
    assert opened.evaluate(read) == "kept away"
