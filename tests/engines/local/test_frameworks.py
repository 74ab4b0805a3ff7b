"""The examples of frameworks that are installed on first use: every rank learns its share, and the
loss falls. Those that are large only run where ``TRAINYARD_TEST_FRAMEWORKS=1``."""

import json
import os
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from config.settings import LOCAL_IMAGES
from engines.base import Handle, Launch, Observation
from engines.local.engine import LocalEngine
from spec.formats.documents import load_spec
from spec.framework import Framework, Head
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for
from workloads import demo

pytestmark = pytest.mark.extended
LARGE = pytest.mark.skipif(
    os.environ.get("TRAINYARD_TEST_FRAMEWORKS") != "1",
    reason="downloads hundreds of megabytes; TRAINYARD_TEST_FRAMEWORKS=1 runs it",
)
FINAL = {Phase.COMPLETED, Phase.FAILED}


def example(name: str) -> Launch:
    """The demo environment of this name, on three ranks."""
    _, framework, document = demo.IMAGES[name]
    alone = Framework(framework).traits.head is Head.NONE
    spec = load_spec(
        {
            "distributedFramework": framework,
            "architecture": "workers_only" if alone else "workers_and_master",
            "numWorkers": 3 if alone else 2,
            "worker": document,
            "backoffLimit": 0,
        }
    )
    return Launch(Handle(uuid4(), name, "team-a"), 1, spec)


def trained(rig: LocalRig, launched: Launch, apps: Path) -> list[str]:
    """The logs of the ranks, when all is over."""
    name = launched.handle.name
    image = launched.spec.worker.image or ""
    ((pattern, words),) = (
        (it, to) for it, to in LOCAL_IMAGES.items() if image.startswith(it.rstrip("*"))
    )
    starter, slug, _, domain = words
    images = {pattern: [starter, slug, str(apps), domain]}
    rig.engine = LocalEngine(rig.home, images=images, virtual_gpus=4)
    rig.engine.submit(launched)

    def over() -> Observation | None:
        seen = rig.engine.observe(launched.handle)
        return seen if seen and seen.phase in FINAL else None

    seen = wait_for(over, timeout=300, every=0.1)
    assert seen
    if "could not be installed" in seen.message:
        pytest.skip(f"no package index is reached: {seen.message}")
    logs = [rig.log(launched, rank) for rank in range(3)]
    assert seen.phase is Phase.COMPLETED, (name, seen.message, logs)
    return logs


def samples(log: str) -> list[dict[str, float]]:
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


@pytest.mark.parametrize(
    "name", ["xgboost", pytest.param("tensorflow", marks=LARGE), pytest.param("jax", marks=LARGE)]
)
def test_the_example_of_a_framework_trains_over_all_ranks(
    rig: LocalRig, name: str, tmp_path: Path
) -> None:
    logs = trained(rig, example(name), tmp_path / "apps")
    assert all(f"Rank {rank} of 3" in log for rank, log in enumerate(logs))
    losses = [it["loss"] for it in samples(logs[0])]
    assert losses[-1] < losses[0] / 3
    assert "Test accuracy: " in logs[0]
    assert not any(map(samples, logs[1:]))


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no Open MPI here")
def test_the_example_of_mpi_adds_up_the_hits_of_all_ranks(rig: LocalRig, tmp_path: Path) -> None:
    launched = example("mpi")
    launcher, *workers = trained(rig, launched, tmp_path / "apps")
    assert {f"Rank {rank} of 2 on mpi-worker-{rank}" for rank in range(2)} <= set(
        launcher.splitlines()
    )
    assert samples(launcher)[-1]["error"] < 0.01
    assert not any(map(samples, workers))
