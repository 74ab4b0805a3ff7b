"""The commands that make an account for Trainyard do so, as the documentation has them."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.run.install import ROOT
from engines.findings import CONNECTION, PERMISSIONS, SIGNED_IN, Level
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from engines.kubernetes.cluster.rbac import NAMESPACE
from engines.kubernetes.engine import KubernetesEngine
from tests.account import BINDINGS, ROLES, SPACE
from tests.clusters.kubernetes.conftest import KUBECONFIG
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
FIRST = "python -m engines.kubernetes.cluster.rbac"


def commands() -> str:
    blocks = (ROOT / "docs" / "kubernetes.md").read_text().split("```\n")
    (block,) = (block for block in blocks if FIRST in block and "kubectl apply" in block)
    return block


@pytest.fixture
def folder(api: Api, tmp_path: Path) -> Iterator[Path]:
    """With a copy of the kubeconfig, and with Trainyard's own Python."""
    if api.find(f"{SPACE}/{NAMESPACE}"):
        pytest.skip(f"the cluster has a namespace {NAMESPACE}, which may be somebody's")
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    yield tmp_path
    name = f"trainyard:{NAMESPACE}:trainyard"
    for path in (f"{BINDINGS}/{name}", f"{ROLES}/{name}", f"{SPACE}/{NAMESPACE}"):
        api.delete(path)


def test_the_documented_commands_make_an_account_that_may_do_what_is_needed(folder: Path) -> None:
    programs = f"{os.environ.get('KUBEBUILDER_ASSETS', '')}:{os.environ['PATH']}"
    subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", commands()],
        cwd=folder,
        env={**os.environ, "PATH": programs, "KUBECONFIG": KUBECONFIG, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )
    engine = KubernetesEngine(connect((folder / "trainyard.kubeconfig").read_text()))

    def lacking() -> list[str]:
        rights = [one for one in engine.check() if one.area == PERMISSIONS]
        assert rights
        return [one.name for one in rights if one.level is not Level.OK]

    wait_for(lambda: not lacking(), 15, "the rights to hold", every=0.2)
    names = {one.name: one.text for one in engine.check() if one.area == CONNECTION}
    assert names[SIGNED_IN] == f"system:serviceaccount:{NAMESPACE}:trainyard"
