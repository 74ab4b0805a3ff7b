"""Measures the round trip of one validation in a real browser, when a field of the wizard
is left: without policies, and under one with 200 rules that refuse nothing."""

from collections.abc import Iterator

from playwright.sync_api import Page, Response, sync_playwright

from bench.browser import ARGUMENTS, sign_in
from bench.report import Measurement, percentile
from tests.browser import executable
from tests.product import Trainyard

CHANGES = 60
RULES = 200
#: Limits of every amount of workers and master, and further rules of all other fields.
SAVE_POLICY = """
from itertools import islice
from accounts.models import User
from policies import fields, services
from policies.rules import Enforcement, Rule
from policies.tree import write_tree
from projects.scopes import OwningScope
from spec.kind import WorkloadKind

BOUNDS = {{fields.ValueType.WHOLE: (0, 999), fields.ValueType.NUMBER: (0, 999),
           fields.ValueType.MEMORY: ("0", "999T")}}

def rules():
    for role in (fields.WORKER, fields.MASTER):
        for name, ruled in fields.ruled_fields(WorkloadKind.DISTRIBUTED, role).items():
            address = fields.address_of(role, name)
            if ruled.type in BOUNDS:
                yield Rule(address, Enforcement.MIN, BOUNDS[ruled.type][0])
                yield Rule(address, Enforcement.MAX, BOUNDS[ruled.type][1])
            elif ruled.type is fields.ValueType.ITEMS:
                yield Rule(address, Enforcement.CAN_ADD, True)
                for attribute in ruled.attributes:
                    yield Rule(f"{{address}}[].{{attribute}}", Enforcement.CAN_EDIT, True)
            else:
                yield Rule(address, Enforcement.CAN_EDIT, True)

kind = WorkloadKind.DISTRIBUTED
chosen = tuple(islice(rules(), {rules}))
assert len(chosen) == {rules}
services.save_policy(by=User.objects.get(username="{user}"), scope=OwningScope(), kind=kind,
                     name="bench", tree=write_tree(chosen, kind))
"""


def rows(trainyard: Trainyard) -> Iterator[Measurement]:
    yield from _measure(trainyard, "Draft validation round trip on leaving a field")
    code = SAVE_POLICY.format(rules=RULES, user=trainyard.username)
    trainyard.manage("shell", "--no-imports", "-c", code)
    yield from _measure(trainyard, f"The same under a policy with {RULES} rules")


def _measure(trainyard: Trainyard, what: str) -> Iterator[Measurement]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        page = browser.new_page(base_url=trainyard.url, storage_state=sign_in(browser, trainyard))
        page.goto("/workloads/new/")
        page.get_by_label("Name", exact=True).fill("validated")
        page.get_by_role("button", name="CONTINUE").click()
        times = [_change(page, str(n % 9 + 2)) for n in range(CHANGES)]
        browser.close()
    yield Measurement(
        what=f"{what}, p95 of {CHANGES}",
        ours=percentile(times, 0.95),
        unit="ms",
        limit=100,
    )


def _change(page: Page, value: str) -> float:
    """Return the milliseconds from the request to the end of the answer, by the browser's clock."""
    field = page.get_by_label("Number of workers")
    with page.expect_response(_is_validation) as answer:
        field.fill(value)
        field.blur()
    response = answer.value
    response.finished()
    timing = response.request.timing
    return timing["responseEnd"] - timing["requestStart"]


def _is_validation(response: Response) -> bool:
    return response.request.method == "POST" and "/workloads/drafts/" in response.url
