"""Adds the testbed's Slurm as a cluster of Trainyard."""

import re
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from config.run.install import ROOT
from tests.slurm_testbed import USER, Testbed


def directory(testbed: Testbed) -> str:
    """Return the shared directory for these tests."""
    return f"{testbed.told['users'][USER]['home']}/trainyard-e2e"


def prologue() -> str:
    """Return a prologue with which ranks run this repository's trainer by its interpreter."""
    return f"export PATH={Path(sys.executable).parent}:$PATH PYTHONPATH={ROOT}"


def connecting(testbed: Testbed, name: str) -> dict[str, Any]:
    """Return the body of the call that adds the cluster."""
    login = testbed.login()
    return {
        "kind": "slurm",
        "name": name,
        "host": login.host,
        "user": login.user,
        "port": str(login.port),
        "privateKey": login.key,
        "knownHosts": login.known_hosts,
        "directory": directory(testbed),
        "prologue": prologue(),
        "slurmConf": testbed.programs.conf,
    }


def add_cluster(page: Page, testbed: Testbed, name: str) -> None:
    """Add the cluster in the browser, after testing its connection, as an administrator does."""
    login = testbed.login()
    page.goto("/clusters/new/?kind=slurm")
    page.get_by_label("Cluster name").fill(name)
    page.get_by_label("Login node").fill(login.host)
    page.get_by_label("User", exact=True).fill(login.user)
    page.get_by_label("SSH port").fill(str(login.port))
    page.get_by_label("SSH private key").fill(login.key)
    page.get_by_label("Known hosts").fill(login.known_hosts)
    page.get_by_label("Shared directory").fill(directory(testbed))
    page.get_by_label("Prologue").fill(prologue())
    page.get_by_label("Slurm's configuration").fill(testbed.programs.conf)
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("reads and writes it")).to_be_visible(timeout=60_000)
    expect(page.get_by_label("SSH private key")).to_have_value("")
    page.get_by_role("button", name="Create cluster").click()
    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}/$"))
    expect(page.get_by_text("Connected", exact=True).first).to_be_visible(timeout=60_000)
