"""The manifests as a person would copy them, and kubectl to apply them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests.cluster import KUBECONFIG

BASE, EXAMPLE = (ROOT / "deploy" / "kubernetes" / name for name in ("base", "example"))


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    """A copy of the example, with passwords of its own."""
    shutil.copytree(BASE, tmp_path / "base")
    shutil.copytree(EXAMPLE, tmp_path / "example")
    subprocess.run([tmp_path / "example" / "secrets.sh"], check=True)
    return tmp_path / "example"


@pytest.fixture
def kubectl() -> list[str]:
    """The command line of kubectl for the cluster of ``KUBECONFIG``."""
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    found = shutil.which("kubectl", path=f"{assets}{os.pathsep}{os.environ['PATH']}")
    if not found:
        pytest.skip("there is no kubectl")
    return [found, f"--kubeconfig={KUBECONFIG}"]
