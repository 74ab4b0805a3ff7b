"""A workload as a file, dropped on the page or chosen there."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.e2e
TRAIN = """\
name: from-a-file
spec:
  image: quay.io/team/train:1
  command: python train.py
  numWorkers: 3
"""
#: As the desktop hands over a file; text from another page comes without any.
HANDED_OVER = """([name, text]) => {
  const data = new DataTransfer();
  if (name) data.items.add(new File([text], name));
  else data.setData("text/plain", text);
  return data;
}"""


def drop(area: Locator, name: str, text: str) -> None:
    data = area.page.evaluate_handle(HANDED_OVER, [name, text])
    for event in ("dragenter", "dragover"):
        area.dispatch_event(event, {"dataTransfer": data})
    if name:
        expect(area).to_have_class("form-control mono yaml-text is-target")
    area.dispatch_event("drop", {"dataTransfer": data})
    expect(area).not_to_have_class("form-control mono yaml-text is-target")


def test_a_file_that_is_dropped_fills_the_form(admin_page: Page) -> None:
    page = admin_page
    page.goto("/workloads/new/?yaml")
    area = page.get_by_label("Workload", exact=True)
    drop(area, "train.yaml", TRAIN.replace("numWorkers", "numWorker"))
    expect(area).to_be_focused()
    expect(page.locator("#status")).to_have_text("train.yaml was read. Apply fills in the form.")
    page.get_by_role("button", name="APPLY").click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean numWorkers?")
    drop(area, "", "text of another page")
    expect(area).to_have_value(TRAIN.replace("numWorkers", "numWorker"))
    drop(area, "train.yaml", TRAIN)
    expect(area).to_have_value(TRAIN)
    page.get_by_role("button", name="APPLY").click()
    page.wait_for_url(re.compile(r"/\d/$"))
    page.get_by_role("button", name="1 Setup").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("from-a-file")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    expect(page.get_by_label("Number of workers")).to_have_value("3")
    expect(page.get_by_label("Command", exact=True)).to_have_value("python train.py")
