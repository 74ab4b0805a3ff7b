"""Every bad ending says what happened and what to do."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


def test_a_failed_workload_opens_on_its_cause(admin_page: Page, rest: Rest) -> None:
    dies = "sh -c 'test $RANK = 1 && { echo my last words; exit 7; }; sleep 60'"
    workload = rest.submit("dying-rank", workers=1, backoffLimit=0, command=dies)
    rest.wait(workload, "Failed", timeout=60)
    admin_page.goto(f"/workloads/{workload}/")
    card = admin_page.get_by_role("region", name="Why it failed")
    for text in ("worker-0 (rank 1) failed first", "code 7", "my last words"):
        expect(card).to_contain_text(text)


@pytest.mark.extended
def test_a_completed_workload_is_deleted_when_due_and_keeps_its_log(
    rest: Rest, admin_page: Page
) -> None:
    spec: dict[str, Any] = {"autoDeletionTimeAfterCompletionSeconds": 0}
    workload = rest.submit("short-lived", workers=1, command="sh -c 'echo bye'", **spec)
    wait_for(lambda: gone(rest, workload), 40, "the auto-deletion", every=0.2)
    admin_page.goto("/workloads/")
    admin_page.get_by_role("link", name="Deleted", exact=True).click()
    row = admin_page.locator(f"#w-{workload}")
    expect(row).to_contain_text("Completed")
    row.get_by_role("link", name="short-lived").click()
    drawer = admin_page.locator("#drawer")
    expect(drawer.locator("#workload-head")).to_contain_text("are kept until")
    drawer.get_by_role("link", name="Logs").click()
    expect(drawer.get_by_text("bye", exact=True).first).to_be_visible()
    drawer.get_by_role("link", name="Restore as a copy").click()
    expect(admin_page).to_have_url(re.compile("/workloads/drafts/"))


def gone(rest: Rest, workload: str) -> bool:
    return rest.http.get(f"/workloads/{workload}").status_code == 404
