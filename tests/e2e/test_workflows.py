"""A workflow file dropped with its script, previewed, submitted and watched to its end."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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
  - name: read
    image: none
    command: [cat, "{{input:0}}/{{ name }}"]
    inputs: [{task: write}]
"""
SCRIPT = "echo 'from the first task' > {{output}}/note\n"
END_MS = 60_000


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
    page.get_by_role("link", name="Logs", exact=True).click()
    expect(page.get_by_text("from the first task")).to_be_visible()
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_text("becomes a training of one pod").first).to_be_visible()
