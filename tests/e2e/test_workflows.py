"""A workflow file dropped with its script, previewed, submitted and watched to its end; and the
dataset that it makes, used in a training."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.walk import command, make_compute_resource, make_environment

pytestmark = pytest.mark.e2e
FILE = """\
workflow:
  name: watched
  tasks:
  - name: write
    image: none
    command: [sh, /tmp/write.sh]
    files:
    - {path: /tmp/write.sh, localpath: scripts/write.sh}
    outputs:
    - dataset: {name: notes}
  - name: read
    image: none
    command: [cat, "{{input:0}}/{{ name }}"]
    inputs: [{task: write}]
"""
SCRIPT = "echo 'from the first task' > {{output}}/note\n"
END_MS = 60_000


def train_with_dataset(page: Page) -> None:
    """From the page of the workflow: open the version that it made, and train with it."""
    page.get_by_role("link", name="notes:1").click()
    expect(page.get_by_role("heading", name="notes, version 1")).to_be_visible()
    expect(page.get_by_role("link", name="note", exact=True)).to_be_visible()
    page.get_by_role("link", name="Use in a workload").click()
    page.get_by_role("radio", name="Standard", exact=True).check()
    page.get_by_label("Name", exact=True).fill("with-notes")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    make_environment(page, "reads-notes")
    make_compute_resource(page, "small-for-notes")
    command(page).fill("cat /data/notes/note")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    page.get_by_role("button", name="CREATE TRAINING").click()
    row = page.get_by_role("row").filter(has_text="with-notes")
    expect(row).to_contain_text("Completed", timeout=END_MS)
    page.get_by_role("link", name="Logs", exact=True).click()
    expect(page.get_by_text("from the first task")).to_be_visible()


def test_a_dropped_file_is_previewed_submitted_and_watched(
    admin_page: Page, tmp_path: Path
) -> None:
    (tmp_path / "watched.yaml").write_text(FILE)
    (tmp_path / "write.sh").write_text(SCRIPT)
    page = admin_page
    page.goto("/workflows/new/")
    files = page.get_by_label("Files", exact=True)
    files.set_input_files([tmp_path / "watched.yaml", tmp_path / "write.sh"])
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("'name' is undefined")).to_be_visible()
    page.get_by_label("Variables").fill("name=note")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("group", name="The graph").locator("rect")).to_have_count(2)
    page.get_by_role("button", name="Submit", exact=True).click()
    status = page.locator(".workflow-facts").get_by_text("Completed")
    expect(status).to_be_visible(timeout=END_MS)
    watched = page.url
    train_with_dataset(page)
    page.goto(watched)
    page.get_by_role("link", name="Logs", exact=True).click()
    expect(page.get_by_text("from the first task")).to_be_visible()
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_text("becomes a training of one pod").first).to_be_visible()
