"""What is set in the browser is in the stored spec, and in what each engine hands over: every row
of the table of fields."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.documents import has
from tests.e2e.far import far
from tests.e2e.walk import begin, begin_workspace
from tests.product import Trainyard
from tests.workloads.wizard.sections.every_field import ON_PAGE_1, arrived, of_use, rounds
from tests.workloads.wizard.sections.field_rows import FieldRow, Json, Posted

__all__ = ["far"]
pytestmark = [pytest.mark.e2e, pytest.mark.extended]
LISTS = {"items", "rows"}
SLOW = 30_000  # milliseconds for a step in a form of 150 fields, on a machine with other work


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
    page = admin_page
    page.set_default_timeout(SLOW)
    for number, (entered, rows) in enumerate(rounds(asked_on(kind))):
        name = f"{kind}-{number}"
        start(page, name, entered, cluster, project)
        choose(page, environment, compute)
        fill_in(page, numbered(entered))
        documents = handed_over(page)
        assert [str(row) for row in rows if not arrived(documents, row.on(kind))] == []
        create(page)
        spec = stored(running_trainyard, name)
        assert [str(row) for row in rows if not has(spec, row.spec)] == []


def asked_on(kind: str) -> list[FieldRow]:
    """Each field once: on Kubernetes all that it has, on the others what it has not. What several
    have is the same input, and test_quickstart_fields shows what each engine gets of it."""
    rows = of_use(kind)
    return rows if kind == "kubernetes" else [it for it in rows if it.is_refused_on("kubernetes")]


def start(page: Page, name: str, entered: Posted, cluster: str, project: str) -> None:
    """The first page, as the rows of a draft have it."""
    if entered.get("kind") == "workspace":
        begin_workspace(page, name, cluster=cluster, project=project)
        return
    framework = entered.get("framework", "PyTorch")
    alone = entered.get("architecture") == "workers_only"
    begin(page, name, cluster=cluster, project=project, framework=framework, workers_only=alone)


def choose(page: Page, environment: str, compute: str) -> None:
    for name in (environment, compute):
        page.get_by_role("radio", name=name, exact=True).check()
    expect(page.locator(".htmx-request")).to_have_count(0)  # which draws anew what they bring


def numbered(entered: Posted) -> Posted:
    """As a page numbers the items of its lists: without gaps."""
    lists = [name for name, value in entered.items() if value in LISTS]
    numbers: dict[str, dict[str, int]] = {name: {} for name in lists}
    dense: Posted = {}
    for name, value in entered.items():
        its = next((key for key in lists if re.match(rf"{key}-\d", name)), "")
        if its:
            at, cell = name.removeprefix(f"{its}-").split("-", 1)
            number = numbers[its].setdefault(at, len(numbers[its]))
        dense[f"{its}-{number}-{cell}" if its else name] = value
    return dense


def fill_in(page: Page, entered: Posted) -> None:
    """By the names of the inputs, once each list has the items that it needs."""
    unfold(page)
    for name in (name for name, value in entered.items() if value in LISTS):
        add(page, name, sum(re.fullmatch(rf"{name}-\d-rest", it) is not None for it in entered))
    for name, value in entered.items():
        if value in LISTS or name.endswith("-rest") or name in ON_PAGE_1:
            continue
        field = page.locator(f'[name="{name}"]')
        if value and f"{name.rpartition('-')[0]}-source" in entered and not name.endswith("-name"):
            field = page.locator(f'select[name="{name}"]')  # which the source brings
        if adds := re.fullmatch(r"(.+-who)-\d+", name):
            page.locator(f'button[value="another:{adds[1]}"]').click()
        if value or (field.is_visible() and field.is_enabled()):  # else of a choice not made
            enter(field, value)


def add(page: Page, name: str, items: int) -> None:
    """Press + until the list has that many."""
    there = page.locator(f'[name^="{name}-"][name$="-rest"]')
    for number in range(there.count(), items):
        page.locator(f'button[value="add:{name}"]').click()
        expect(there).to_have_count(number + 1, timeout=SLOW)


def enter(field: Locator, value: str) -> None:
    kind = field.evaluate("it => it.type")
    if kind == "select-one" and field.input_value() != value:
        field.select_option(value)
    elif kind == "checkbox":
        field.set_checked(value == "on")
    elif kind != "select-one":
        field.fill(value)


def handed_over(page: Page) -> list[Json]:
    """The manifest, as the page shows it of a draft that is complete; the button keeps all that was
    entered."""
    here = page.url
    page.get_by_role("button", name="As YAML").click()
    page.wait_for_url("**/yaml/")
    expect(page.locator("#manifest")).to_have_count(1, timeout=SLOW)
    text = page.locator("#manifest").text_content()
    page.goto(here)
    return list(yaml.safe_load_all(text or ""))


def create(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^CREATE (TRAINING|WORKSPACE)$", re.I)).click()
    page.wait_for_url("**/workloads/?sel=*")


def unfold(page: Page) -> None:
    folds = "details:is(.fold, .reveal)"
    page.evaluate(f"document.querySelectorAll('{folds}').forEach(it => {{ it.open = true }})")


def stored(trainyard: Trainyard, name: str) -> Json:
    path = trainyard.home / "trainyard.sqlite3"
    asked = "SELECT spec_json FROM workloads_workload WHERE name = ?"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        (text,) = database.execute(asked, [name]).fetchone()
    document: Json = json.loads(text)
    return document
