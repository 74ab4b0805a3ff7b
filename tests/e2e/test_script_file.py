"""A batch script as a file, chosen on its page."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e
PATH = "/workloads/new/batch-script/"


def choose(page: Page, file: Path) -> None:
    page.goto(PATH)
    page.get_by_label("From a file").set_input_files(file)
    expect(page.get_by_text(file.name)).to_be_attached()
    page.get_by_role("button", name="Read", exact=True).click()


def test_a_script_without_a_name_is_called_as_its_file(admin_page: Page, tmp_path: Path) -> None:
    file = tmp_path / "7B run.sh"
    file.write_bytes(b"\xef\xbb\xbf#!/bin/bash\n#SBATCH -n 2\nsrun -K true\n")
    choose(admin_page, file)
    expect(admin_page.get_by_label("Workload name")).to_have_attribute("placeholder", "run-7b")
    expect(admin_page.get_by_text("The byte order mark before this line")).to_be_visible()


def test_a_file_that_is_not_utf_8_is_refused_by_its_line(admin_page: Page, tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes("#!/bin/bash\n# Müller\nsrun -K true\n".encode("latin-1"))
    choose(admin_page, file)
    expect(admin_page.get_by_text("line 2: has bytes that are not UTF-8")).to_be_visible()
