"""What is set in the browser is in the stored spec, and in what each engine hands over: the fields
of Run:ai's quickstart, in as few drafts as they fit into together."""

import json
from collections.abc import Iterable

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.documents import has
from tests.e2e.far import far
from tests.e2e.walk import begin
from tests.product import Trainyard
from tests.workloads.wizard.sections import pod_fields, volume_fields
from tests.workloads.wizard.sections.field_rows import FieldRow, Json

__all__ = ["far"]
pytestmark = pytest.mark.e2e
ROWS = {row.field: row for row in (*pod_fields.ROWS, *volume_fields.ROWS)}
ROUNDS = (
    (
        "Custom URL",
        "Access: All signed-in users",
        "User ID (UID)",
        "Group ID (GID)",
        "Supplementary groups",
        "+COMMAND & ARGUMENTS",
        "Modify an existing variable",
        "Order of priority of the node pools",
        "Node affinity",
        "+TOLERATION Exists, NoExecute",
        "Topology, required",
        "Number of workers",
        "Storage class None",
        "Read-write by one node",
        "Read-only by many nodes",
        "Read-write by many nodes",
        "Claim size in G",
        "Volume mode Block",
        "Ephemeral",
        "Grace period",
        "Backoff limit",
        "Timeframe for auto-deletion",
        "+ANNOTATION",
        "+LABEL",
    ),
    (
        "Access: Specific users",
        "+ENVIRONMENT VARIABLE, custom value",
        "+TOLERATION Equals",
        "Topology, preferred",
        "Custom storage class",
        "Claim size in Mi",
    ),
    ("Custom port", "Container path"),
)
REMOVE = 'button[value^="remove:"]'
ON_THIS_MACHINE = (
    "+COMMAND & ARGUMENTS",
    "Modify an existing variable",
    "Number of workers",
    "Grace period",
    "Backoff limit",
)
STORED = """
import json
from workloads.models import Workload
print(json.dumps(Workload.objects.get(name={name!r}).spec_json))
"""


def test_every_input_of_the_quickstart_is_filled_in_the_browser() -> None:
    """But the key of a credential, which tests/e2e/test_credentials.py chooses."""
    filled = {name for fields in ROUNDS for field in fields for name in ROWS[field].posted}
    names = {name for row in ROWS.values() for name in row.posted}
    assert {name.rpartition("-")[2] for name in names - filled} == {"source", "key"}


def test_fields_set_in_the_browser_reach_kubernetes(
    running_trainyard: Trainyard, admin_page: Page, far: str
) -> None:
    page = admin_page
    begin(page, "round-0", cluster=far, project="vision")
    choose(page, "own-ids", "tiny")
    for number, fields in enumerate(ROUNDS):
        rows = [ROWS[field] for field in fields]
        fill_in(page, rows)
        manifest = handed_over(page)
        assert [str(row) for row in rows if not has(manifest, row.kubernetes)] == []
        create(page)
        spec = stored(running_trainyard, f"round-{number}")
        assert [str(row) for row in rows if not has(spec, row.spec)] == []
        if number + 1 < len(ROUNDS):
            copy(page, f"round-{number}", f"round-{number + 1}")


def test_fields_set_in_the_browser_reach_the_processes_of_this_machine(
    running_trainyard: Trainyard, admin_page: Page
) -> None:
    page = admin_page
    begin(page, "here")
    choose(page, "pytorch", "cpu-only")
    rows = [ROWS[field] for field in ON_THIS_MACHINE]
    fill_in(page, rows)
    manifest = handed_over(page)
    assert [str(row) for row in rows if not has(manifest, row.local)] == []
    create(page)
    spec = stored(running_trainyard, "here")
    assert [str(row) for row in rows if not has(spec, row.spec)] == []


def choose(page: Page, environment: str, compute: str) -> None:
    for name in (environment, compute):
        page.get_by_role("radio", name=name, exact=True).check()


def fill_in(page: Page, rows: Iterable[FieldRow]) -> None:
    """By the names of the inputs, each list with the items that it needs."""
    unfold(page)
    for row in rows:
        for name, value in row.posted.items():
            if value in {"items", "rows"} or name.endswith("-rest"):
                continue
            reveal(page, name, row)
            field = page.locator(f'[name="{name}"]')
            if value or field.is_visible():  # an empty one may be of a choice that was not made
                enter(field, value)


def reveal(page: Page, name: str, row: FieldRow) -> None:
    """Press + until the item is there that the input is of."""
    lists = [key for key, value in row.posted.items() if value in {"items", "rows"}]
    for key in lists if page.locator(f'[name="{name}"]').count() == 0 else ():
        page.locator(f'button[value="add:{key}"]').click()
        expect(page.locator(f'[name="{name}"]')).to_have_count(1)


def enter(field: Locator, value: str) -> None:
    kind = field.evaluate("it => it.type")
    if kind == "select-one":
        field.select_option(value)
    elif kind == "checkbox":
        field.set_checked(value == "on")
    else:
        field.fill(value)


def handed_over(page: Page) -> list[Json]:
    """The manifest, as the page shows it of a draft that is complete; the button keeps all that was
    entered."""
    here = page.url
    page.get_by_role("button", name="As YAML").click()
    page.wait_for_url("**/yaml/")
    expect(page.locator("#manifest")).to_have_count(1)
    text = page.locator("#manifest").text_content()
    page.goto(here)
    return list(yaml.safe_load_all(text or ""))


def create(page: Page) -> None:
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/")


def copy(page: Page, name: str, new: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("link", name="Copy & edit").first.click()
    page.wait_for_url("**/1/")
    page.get_by_label("Name", exact=True).fill(new)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")
    unfold(page)
    for _ in range(page.locator(REMOVE).count()):  # lists begin anew
        left = page.locator(REMOVE).count()
        page.locator(REMOVE).first.click()
        expect(page.locator(REMOVE)).to_have_count(left - 1)


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details.fold').forEach(it => { it.open = true })")


def stored(trainyard: Trainyard, name: str) -> Json:
    last = trainyard.manage("shell", "--command", STORED.format(name=name)).splitlines()[-1]
    document: Json = json.loads(last)
    return document
