"""The documented commands create an account for Trainyard."""

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
from engines.kubernetes.labels import INSTALLATION, PROJECT
from tests.account import BINDINGS, ROLES, SPACE
from tests.clusters.kubernetes.conftest import KUBECONFIG
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
FIRST = "python -m engines.kubernetes.cluster.rbac"


def commands(*parts: str) -> str:
    """The block of the documentation that has all of these."""
    blocks = (ROOT / "docs" / "kubernetes.md").read_text().split("```\n")[1::2]
    (block,) = (block for block in blocks if all(part in block for part in parts))
    return block


def execute(block: str, folder: Path) -> None:
    programs = f"{os.environ.get('KUBEBUILDER_ASSETS', '')}:{os.environ['PATH']}"
    subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env={**os.environ, "PATH": programs, "KUBECONFIG": KUBECONFIG, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )


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
    execute(commands(FIRST, "kubectl apply"), folder)
    engine = KubernetesEngine(connect((folder / "trainyard.kubeconfig").read_text()))

    def lacking() -> list[str]:
        rights = [one for one in engine.check() if one.area == PERMISSIONS]
        assert rights
        return [one.name for one in rights if one.level is not Level.OK]

    wait_for(lambda: not lacking(), 15, "the rights to hold", every=0.2)
    names = {one.name: one.text for one in engine.check() if one.area == CONNECTION}
    assert names[SIGNED_IN] == f"system:serviceaccount:{NAMESPACE}:trainyard"


def test_the_documented_commands_release_what_one_trainyard_marked(
    api: Api, tmp_path: Path
) -> None:
    block = commands("kubectl label namespace")
    marks = {"released": "installation-a", "left": "installation-b"}
    names = {name: f"trainyard-{name}-{tmp_path.stat().st_ino}" for name in marks}
    try:
        for name, mark in marks.items():
            labels = {PROJECT: name, INSTALLATION: mark}
            api.create(SPACE, {"metadata": {"name": names[name], "labels": labels}})
        queues = "kubectl label queues"  # without KAI there are none
        lines = [line for line in block.splitlines() if not line.startswith(queues)]
        execute("\n".join(lines).replace("trainyard-vision", names["released"]), tmp_path)
        left = [api.get(f"{SPACE}/{names[name]}")["metadata"]["labels"] for name in marks]
        assert [INSTALLATION in labels for labels in left] == [False, True]
    finally:
        for name in names.values():
            api.delete(f"{SPACE}/{name}")
