"""What is set in the browser is in the stored spec, and in what each engine hands over: every row
of the table of fields that fits into two drafts."""

import json
from collections.abc import Iterable

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.documents import has
from tests.e2e.far import far
from tests.e2e.walk import begin
from tests.product import Trainyard
from tests.workloads.wizard.sections.every_field import ON_PAGE_1, ROWS, arrived, rounds
from tests.workloads.wizard.sections.field_rows import FieldRow, Json, Posted

__all__ = ["far"]
pytestmark = pytest.mark.e2e
REMOVE = 'button[value^="remove:"]'
LISTS = {"items", "rows"}
#: Each takes a minute. The few rows of later ones are shown without a browser alone, as all rows
#: are, by tests/workloads/wizard/sections/test_quickstart_fields.py.
DRAFTS = 2
STORED = """
import json
from workloads.models import Workload
print(json.dumps(Workload.objects.get(name={name!r}).spec_json))
"""


@pytest.mark.parametrize(
    ("kind", "cluster", "project", "environment", "compute"),
    [
        ("kubernetes", "far", "vision", "own-ids", "tiny"),
        ("local", "local", "team-a", "pytorch", "cpu-only"),
        ("slurm", "hpc", "speech", "program", "tiny"),
    ],
    ids=lambda it: it,
)
def test_every_field_set_in_the_browser_reaches_the_engine(
    running_trainyard: Trainyard,
    admin_page: Page,
    far: str,
    kind: str,
    cluster: str,
    project: str,
    environment: str,
    compute: str,
) -> None:
    page, name = admin_page, ""
    for number, (entered, rows) in enumerate(rounds(of_use(kind))[:DRAFTS]):
        new = f"{kind}-{number}"
        if name:
            copy(page, name, new)
        else:
            begin(page, new, cluster=cluster, project=project)
            choose(page, environment, compute)
        name = new
        fill_in(page, entered)
        documents = handed_over(page)
        assert [str(row) for row in rows if not arrived(documents, row.on(kind))] == []
        create(page)
        spec = stored(running_trainyard, name)
        assert [str(row) for row in rows if not has(spec, row.spec)] == []


def test_fields_that_slurm_lacks_are_not_offered_and_the_page_says_why(
    admin_page: Page, far: str
) -> None:
    page = admin_page
    begin(page, "not-there", cluster="hpc", project="speech")
    unfold(page)
    for name in ("pvc", "claims", "nfs", "configMapVolume", "secretVolume", "emptyDirVolume"):
        expect(page.locator(f'button[value="add:worker-storage-{name}"]')).to_be_hidden()
    for name in ("hostPath", "git", "s3"):
        expect(page.locator(f'button[value="add:worker-storage-{name}"]')).to_be_visible()
    storage = page.locator("#storage")
    expect(storage).to_contain_text("Volume, Existing PVC: not on this cluster. Slurm makes no")
    expect(storage).to_contain_text("Or existing Secret: not on this cluster. Slurm has no Secrets")
    expect(page.locator('[name="worker-compute-gpuRequestType"]')).to_be_disabled()
    page.locator('button[value="add:worker-connections"]').click()
    ways = page.locator('[name="worker-connections-0-connection_type"] option')
    expect(ways).to_have_text(["External URL", "Through Trainyard"])


def of_use(kind: str) -> list[FieldRow]:
    """On a cluster that is Trainyard's own or a person's work, what nothing comes of is left."""
    if kind == "kubernetes":
        return [row for row in ROWS if not row.is_refused_on(kind)]
    return [row for row in ROWS if row.on(kind) and not row.is_refused_on(kind)]


def choose(page: Page, environment: str, compute: str) -> None:
    for name in (environment, compute):
        page.get_by_role("radio", name=name, exact=True).check()


def fill_in(page: Page, entered: Posted) -> None:
    """By the names of the inputs, each list with the items that it needs."""
    if first := ON_PAGE_1 & entered.keys():
        page.goto(page.url.replace("/2/", "/1/"))
        for name in first:
            page.locator(f'[name="{name}"][value="{entered[name]}"]').check()
        page.get_by_role("button", name="CONTINUE").click()
        page.wait_for_url("**/2/")
    unfold(page)
    lists = [name for name, value in entered.items() if value in LISTS]
    for name, value in entered.items():
        if value in LISTS or name.endswith("-rest") or name in ON_PAGE_1:
            continue
        reveal(page, name, lists)
        field = page.locator(f'[name="{name}"]')
        if value and f"{name.rpartition('-')[0]}-source" in entered and not name.endswith("-name"):
            field = page.locator(f'select[name="{name}"]')  # which the source brings
        if value or (field.is_visible() and field.is_enabled()):  # else of a choice not made
            enter(field, value)


def reveal(page: Page, name: str, lists: Iterable[str]) -> None:
    """Press + until the item is there that the input is of."""
    its = [key for key in lists if name.startswith(f"{key}-")]
    for key in its if page.locator(f'[name="{name}"]').count() == 0 else ():
        if page.locator(f'[name^="{key}-0-"]').count() == 0 or f"{key}-0-" not in name:
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
    expect(page.locator("#manifest")).to_have_count(1, timeout=20_000)  # a hundred fields
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
