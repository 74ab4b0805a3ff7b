"""Every bad ending says what happened and what to do."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.e2e


@pytest.fixture
def rest(running_trainyard: Trainyard) -> Iterator[Rest]:
    with Rest(running_trainyard) as rest:
        yield rest
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])


ONCE = {"workers": 1, "backoffLimit": 0}
#: Name, spec, and what the card says of the cause and of what to do.
DYING: tuple[str, dict[str, Any], str, str] = (
    "dying-rank",
    {"command": "sh -c 'test $RANK = 1 && { echo my last words; exit 7; }; sleep 60'"},
    "worker-0 (rank 1) failed first",
    "Read its last lines",
)
OTHERS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "no-such-command",
        {"command": "$(CHECKPOINT_DIR)/no-such-program --fast"},
        "no-such-program",
        "Check the command in the environment",
    ),
    (
        "killed-rank",
        {"command": "sh -c 'test $RANK = 0 && kill -SEGV $$; sleep 60'"},
        "SIGSEGV",
        "Suspect compiled extensions",
    ),
    (
        "slow-rank",
        {"command": "sleep 600", "timeLimitSeconds": 2, "backoffLimit": 3},
        "It reached its time limit of 2 s.",
        "Raise the time limit",
    ),
    (
        "hungry-rank",
        {
            "command": "python3 -c 'x = bytearray(400_000_000); import time; time.sleep(60)'",
            "compute": {"cpuMemoryRequest": "100M", "cpuMemoryLimit": "150M"},
        },
        "150",
        "Ask for more CPU memory",
    ),
]


@pytest.mark.parametrize(
    ("name", "spec", "cause", "advice"),
    [DYING, *(pytest.param(*other, marks=pytest.mark.extended) for other in OTHERS)],
    ids=lambda value: str(value)[:20],
)
def test_a_failed_workload_opens_on_its_cause(
    admin_page: Page, rest: Rest, name: str, spec: dict[str, Any], cause: str, advice: str
) -> None:
    workload = rest.submit(name, **{**ONCE, **spec})
    rest.wait(workload, "Failed", timeout=60)
    admin_page.goto(f"/workloads/{workload}/")
    card = admin_page.get_by_role("region", name="Why it failed")
    expect(card).to_contain_text(cause)
    expect(card).to_contain_text(advice)
    if name == "dying-rank":
        expect(card).to_contain_text("my last words")


@pytest.mark.extended
def test_a_rank_that_outlives_its_grace_period_is_killed(admin_page: Page, rest: Rest) -> None:
    deaf = "sh -c 'trap \"\" TERM; echo deaf; while :; do sleep 0.1; done'"
    workload = rest.submit("deaf", workers=1, command=deaf, terminationGracePeriodSeconds=1)
    wait_for(lambda: "deaf" in rest.log(workload), 30, "the rank to ignore signals")
    rest.act(workload, "suspend")
    rest.wait(workload, "Stopped", timeout=30)
    assert rest.read(workload)["phaseReason"] == "GracePeriodExceeded"
    admin_page.goto(f"/workloads/{workload}/")
    expect(admin_page.locator("#workload-head")).to_contain_text("grace period")


@pytest.mark.extended
def test_a_completed_workload_is_deleted_when_it_is_due_and_its_log_is_kept(
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
