"""Signing in a command line: its code is approved in a browser, and the machine gets a key."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from config.run.install import ROOT
from tests.product import Trainyard

pytestmark = pytest.mark.e2e


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "of-a-laptop" / "config.json"


@pytest.fixture
def login(config: Path, running_trainyard: Trainyard) -> Iterator[subprocess.Popen[str]]:
    """``trainyard login`` as it waits for somebody to approve its code."""
    words = [sys.executable, "-u", "-m", "trainyard_cli", "login"]
    unwanted = {"TRAINYARD_PASSWORD", "TRAINYARD_SERVER"}
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    with subprocess.Popen(
        [*words, "--server", running_trainyard.url],
        env=environment | {"TRAINYARD_CONFIG": str(config), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def printed(login: subprocess.Popen[str]) -> tuple[str, str]:
    """The address and the code."""
    assert login.stderr
    address, code = (login.stderr.readline() for _ in range(2))
    return address.split()[-1], code.split()[-1]


def test_a_code_that_is_approved_in_the_browser_signs_the_machine_in(
    admin_page: Page, login: subprocess.Popen[str], config: Path, running_trainyard: Trainyard
) -> None:
    address, code = printed(login)
    admin_page.goto(address)
    expect(admin_page.locator(".device-code")).to_have_text(code)
    admin_page.get_by_role("button", name="Approve").click()
    expect(admin_page.get_by_text("Go back to your terminal.")).to_be_visible()
    assert login.wait(timeout=30) == 0
    assert login.stderr
    assert f"as {running_trainyard.username}." in login.stderr.read()
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    kept = json.loads(config.read_text())
    assert kept["client_secret"]
    admin_page.get_by_role("link", name="access key").click()
    expect(admin_page.get_by_text(kept["client_id"])).to_be_visible()


@pytest.mark.extended
def test_a_code_that_is_denied_leaves_nothing_on_the_machine(
    admin_page: Page, login: subprocess.Popen[str], config: Path
) -> None:
    _, code = printed(login)
    admin_page.goto("/device/")
    admin_page.get_by_label("Code").fill(code.lower())
    admin_page.get_by_role("button", name="Continue").click()
    admin_page.get_by_role("button", name="Deny").click()
    expect(admin_page.get_by_text("Nothing was signed in.")).to_be_visible()
    assert login.wait(timeout=30) == 1
    assert not config.exists()
