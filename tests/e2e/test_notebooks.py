"""The shipped environments with a tool, as they are: real ones from PyPI."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.product import Trainyard
from tests.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
INSTALLING = 240_000  # milliseconds; on two busy cores


@pytest.fixture(scope="module", autouse=True)
def _reaches_an_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """As the installation will."""
    asked = [sys.executable, "-m", "pip", "download", "--no-deps", "jupyterlab>=4.4,<5"]
    folder = tmp_path_factory.mktemp("index")
    if subprocess.run(asked, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("pip reaches no package index with JupyterLab")


def create(page: Page, name: str, environment: str) -> str:
    """A workspace of the gallery's; the address of its page."""
    page.goto("/workloads/")
    page.get_by_role("button", name="+NEW WORKLOAD").click()
    page.get_by_role("link", name="Workspace", exact=True).click()
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name="local").check()
    page.get_by_role("radio", name="team-a").check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    chosen = page.get_by_role("radio", name=environment, exact=True)
    if not chosen.count():  # other tests made many that come before it
        page.get_by_role("button", name=re.compile(r"Show \d+ more")).first.click()
    chosen.check()
    page.get_by_role("radio", name="cpu-only").check()
    page.get_by_role("button", name="CREATE WORKSPACE").click()
    address = page.get_by_role("link", name=name, exact=True).get_attribute("href")
    assert address
    return address


def connect(page: Page, address: str, tool: str) -> Page:
    page.goto(address)
    head = page.locator("#workload-head .head-line")
    expect(head).to_contain_text("Running", timeout=INSTALLING)
    page.get_by_role("link", name="Connect", exact=True).click()
    with page.expect_popup() as popup:
        page.get_by_role("link", name=f"Connect to {tool}").click()
    return popup.value


def again(opened: Page) -> None:
    """Until what was started a moment ago listens."""
    for _ in range(40):
        if "may still be starting" not in (text := opened.content()) and "not listen" not in text:
            return
        opened.wait_for_timeout(500)
        opened.reload()


def test_two_workspaces_with_a_real_jupyterlab_open_by_connect(
    rest: Rest, admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    both = [create(page, name, "jupyter-lab") for name in ("lab-one", "lab-two")]
    page.goto(both[0])
    told = page.locator("#workload-head .head-cause")
    expect(told).to_contain_text("Installing JupyterLab, once for all", timeout=30_000)
    expect(told).to_contain_text("packages", timeout=INSTALLING)
    for address in both:
        opened = connect(page, address, "JupyterLab")
        again(opened)
        expect(opened.get_by_role("menuitem", name="Kernel")).to_be_visible(timeout=60_000)
        opened.close()
    home = Path(running_trainyard.home)
    assert (home / "apps" / "jupyterlab" / ".ready").exists()


def test_a_workspace_with_a_real_tensorboard_opens_by_connect(rest: Rest, admin_page: Page) -> None:
    opened = connect(admin_page, create(admin_page, "board", "tensorboard"), "TensorBoard")
    again(opened)
    expect(opened).to_have_title("TensorBoard")
    expect(opened.get_by_role("heading", name="No dashboards are active")).to_be_visible(
        timeout=60_000
    )
    opened.close()
