"""Launches with volumes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.base import Launch
from engines.local.engine import LocalEngine
from engines.shared import mounts
from engines.shared.mounts import Binding
from spec.formats.documents import load_spec
from tests.engines.local.conftest import IMAGES, LocalRig


def mounting(
    rig: LocalRig, script: str, *, workers: int = 1, retries: int = 0, **storage: Any
) -> Launch:
    """Return a launch whose ranks run a script. ``storage`` has lists of volumes as they are in
    JSON."""
    worker = {"image": "any", "command": "/bin/sh", "storage": storage}
    worker["args"] = f"-c '{script}'"
    spec = load_spec(
        {
            "distributedFramework": "PyTorch",
            "architecture": "workers_only",
            "backoffLimit": retries,
            "numWorkers": workers,
            "worker": worker,
        }
    )
    return replace(rig.shell("true"), spec=spec)


def allow(rig: LocalRig, *paths: str) -> None:
    """Allow these paths as host paths, as an administrator does."""
    rig.engine = LocalEngine(rig.home, images=IMAGES, virtual_gpus=4, paths=paths)


def needs_mounts(tmp_path: Path) -> None:
    """Skip the test if the system allows no private mounts."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    if said := mounts.try_mounts([Binding("/trainyard-x", str(tmp_path))], scratch):
        pytest.skip(f"this system allows no private mounts: {said}")
