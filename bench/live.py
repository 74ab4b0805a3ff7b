"""Measures the time from a change of phase in the engine to the changed row, with fifty
open pages."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from playwright.sync_api import Browser, Page, StorageState, sync_playwright

from bench.browser import ARGUMENTS, sign_in
from bench.listeners import listening
from bench.report import Measurement, percentile
from tests.browser import executable
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

PAGES = 50
BROWSERS = 5
WORKLOADS = 10
# The changes that the engine makes. Trainyard makes all others itself.
ENGINE_MOVES = ("Running", "Completed")
SHORT_SECOND_RUN = (
    "test -e $CHECKPOINT_DIR/once && exec sleep 2; touch $CHECKPOINT_DIR/once; exec sleep 600"
)
WATCH = """
window.seen = {};
const look = () => {
  for (const row of document.querySelectorAll('tr[data-phase]')) {
    const key = row.id.slice(2) + ' ' + row.dataset.phase;
    window.seen[key] ??= Date.now();
  }
};
new MutationObserver(look).observe(
  document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-phase']}
);
look();
"""


def rows(trainyard: Trainyard) -> Iterator[Measurement]:
    with sync_playwright() as playwright, Rest(trainyard) as rest:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        workloads = [_prepare(rest, f"live-{n}") for n in range(WORKLOADS)]
        # Each page has a profile of its own, as if several people used it: one profile opens at
        # most six connections.
        state = sign_in(browser, trainyard)
        pages = [_open(browser, trainyard, state) for _ in range(BROWSERS)]
        with listening(trainyard, state, PAGES - BROWSERS):
            for workload in workloads:
                rest.act(workload, "resume")
                rest.wait(workload, "Completed", timeout=60)
        moves = [move for workload in workloads for move in _moves(rest, workload)]
        for page in pages:
            wait_for(partial(_shows_all, page, moves), 30, "every row to change")
        delays = [delay for page in pages for delay in _delays(page, moves)]
        browser.close()
    yield Measurement(
        what=f"Phase change in the engine to the row in the browser, p95, {PAGES} open pages "
        f"({BROWSERS} of them in Chromium on the same machine)",
        ours=percentile(delays, 0.95),
        unit="s",
        limit=0.3,
    )


def _open(browser: Browser, trainyard: Trainyard, state: StorageState) -> Page:
    page = browser.new_context(base_url=trainyard.url, storage_state=state).new_page()
    page.goto("/workloads/")
    page.evaluate(WATCH)
    return page


def _prepare(rest: Rest, name: str) -> str:
    """Create a stopped workload, so that its row is there before the pages open. Its next run is
    short."""
    workload = rest.submit(name, command=f"sh -c '{SHORT_SECOND_RUN}'")
    rest.wait(workload, "Running", timeout=60)
    rest.act(workload, "suspend")
    rest.wait(workload, "Stopped", timeout=60)
    return workload


def _moves(rest: Rest, workload: str) -> list[tuple[str, float]]:
    """Return ``"ID PHASE"`` and the time of each change by the engine, in seconds since 1970."""
    created_at = {event["phase"]: event["createdAt"] for event in rest.events(workload)}
    return [
        (f"{workload} {phase}", datetime.fromisoformat(created_at[phase]).timestamp())
        for phase in ENGINE_MOVES
    ]


def _shows_all(page: Page, moves: list[tuple[str, float]]) -> bool:
    shown: dict[str, Any] = page.evaluate("window.seen")
    return all(key in shown for key, _ in moves if key.endswith("Completed"))


def _delays(page: Page, moves: list[tuple[str, float]]) -> Iterator[float]:
    """Yield the seconds until the page showed each change. It may skip one that the next one
    followed at once."""
    shown: dict[str, float] = page.evaluate("window.seen")
    for key, moved_at in moves:
        if key in shown:
            yield shown[key] / 1000 - moved_at
