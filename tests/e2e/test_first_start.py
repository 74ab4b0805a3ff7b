"""The first minutes of an installation: PyTorch comes in the background, and a training that was
submitted meanwhile starts once it is there. The index of packages breaks off, and then refuses."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import sign_in
from tests.engines.local.interpreter.index import Index, serve
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.extended]

PREPARED = 240_000  # milliseconds; a preparation leaves the processors to others
PREPARED_SECONDS = PREPARED / 1000
#: Hides the torch of these tests from the product, as in a checkout without packages for tests.
HIDE_TORCH = """\
from importlib.machinery import PathFinder

find_spec = PathFinder.find_spec


def find_all_but_torch(name, path=None, target=None):
    return None if name == "torch" else find_spec(name, path, target)


PathFinder.find_spec = find_all_but_torch
"""
PRINT_TORCH = "python -c 'import torch; print(torch.__version__, torch.__file__)'"


class SlowIndex(Index):
    """Sends a piece when it is told to, and all others once it may go on; the first connection then
    breaks off."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pieces = threading.Semaphore(0)
        self.may_go_on = False
        self.has_broken = False
        self.before_piece = self.wait_or_break

    def wait_or_break(self) -> None:
        if self.may_go_on:
            return
        self.pieces.acquire()
        if self.may_go_on and not self.has_broken:
            self.has_broken = True
            raise ConnectionResetError

    def go_on(self) -> None:
        self.may_go_on = True
        self.pieces.release()


@pytest.fixture(scope="module")
def index() -> Iterator[SlowIndex]:
    index = SlowIndex()
    server = serve(index)
    yield index
    index.go_on()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def running_trainyard(
    index: SlowIndex, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trainyard]:
    """A product in whose own Python there is no torch."""
    hiding = tmp_path_factory.mktemp("hiding")
    (hiding / "sitecustomize.py").write_text(HIDE_TORCH)
    trainyard = Trainyard(
        tmp_path_factory.mktemp("home"),
        PYTHONPATH=str(hiding),
        PIP_INDEX_URL=index.url,
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
        TRAINYARD_TORCH="cuda",  # does not ask an index of the internet
    )
    trainyard.start()
    yield trainyard
    trainyard.stop()


def fetched_bytes(page: Page) -> int:
    bars = page.get_by_label("Fetched bytes")
    return int(bars.get_attribute("value") or 0) if bars.count() else 0


def test_a_training_that_is_submitted_during_the_download_starts_after_it(
    index: SlowIndex, running_trainyard: Trainyard, page: Page, rest: Rest
) -> None:
    sign_in(page, running_trainyard.username, running_trainyard.password)
    page.goto("/")
    expect(page.get_by_text("Installing PyTorch on this machine.")).to_be_visible()
    workload = rest.submit("early", workers=1, noMaster=True, image=None, command=PRINT_TORCH)
    expect(page.get_by_label("Fetched bytes")).to_be_visible(timeout=PREPARED)
    assert fetched_bytes(page) == 0
    index.pieces.release()
    wait_for(lambda: fetched_bytes(page) > 0, PREPARED_SECONDS)
    assert fetched_bytes(page) == sum(index.sent.values())
    rest.wait(workload, "Pending")
    page.goto(f"/workloads/{workload}/")
    expect(page.get_by_text("once PyTorch is installed").first).to_be_visible()

    index.status = 403  # from the next file on, which a connection that broke off asks for
    index.go_on()
    page.goto("/")
    expect(page.get_by_role("alert").get_by_text("403 Forbidden")).to_be_visible(timeout=PREPARED)
    index.status = 200
    page.get_by_role("button", name="Try again").click()

    assert rest.wait(workload, "Completed", "Failed", timeout=PREPARED_SECONDS) == "Completed"
    assert sum(index.sent.values()) == index.total  # no byte twice
    home = Path(running_trainyard.home, "training")
    assert f"2.13.0 {home}" in rest.log(workload)
    page.goto("/")
    expect(page.get_by_text("Installing PyTorch")).to_have_count(0)
