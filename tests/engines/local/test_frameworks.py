"""The examples of frameworks that are installed on first use: every rank learns its share, and the
loss falls. Those that are large only run where ``TRAINYARD_TEST_FRAMEWORKS=1``."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest

from config.settings import LOCAL_IMAGES
from engines.base import Handle, Launch, Observation
from engines.local.engine import LocalEngine
from spec.documents import load
from spec.framework import Framework, Head
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for
from workloads import demo

pytestmark = pytest.mark.slow
LARGE = pytest.mark.skipif(
    os.environ.get("TRAINYARD_TEST_FRAMEWORKS") != "1",
    reason="downloads hundreds of megabytes; TRAINYARD_TEST_FRAMEWORKS=1 runs it",
)
FINAL = {Phase.COMPLETED, Phase.FAILED}


def example(name: str) -> Launch:
    """The demo environment of this name, on three ranks."""
    _, framework, document = demo.IMAGES[name]
    alone = Framework(framework).traits.head is Head.NONE
    spec = load(
        {
            "distributedFramework": framework,
            "architecture": "workers_only" if alone else "workers_and_master",
            "numWorkers": 3 if alone else 2,
            "worker": document,
            "backoffLimit": 0,
        }
    )
    return Launch(Handle(uuid4(), name, "team-a"), 1, spec)


@pytest.mark.parametrize(
    "name", ["xgboost", pytest.param("tensorflow", marks=LARGE), pytest.param("jax", marks=LARGE)]
)
def test_the_example_of_a_framework_trains_over_all_ranks(
    rig: LocalRig, name: str, tmp_path: Path
) -> None:
    ((image, words),) = ((it, to) for it, to in LOCAL_IMAGES.items() if name in to)
    starter, slug, _, domain = words
    apps = str(tmp_path / "apps")
    images = {image: [starter, slug, apps, domain]}
    rig.engine = LocalEngine(rig.home, images=images, virtual_gpus=4)
    launched = example(name)
    rig.engine.submit(launched)

    def over() -> Observation | None:
        seen = rig.engine.observe(launched.handle)
        return seen if seen and seen.phase in FINAL else None

    seen = wait_for(over, timeout=300, every=0.1)
    assert seen
    if "could not be installed" in seen.message:
        pytest.skip(f"no package index is reached: {seen.message}")
    logs = [rig.log(launched, rank) for rank in range(3)]
    assert seen.phase is Phase.COMPLETED, (seen.message, logs)
    assert all(f"Rank {rank} of 3" in log for rank, log in enumerate(logs))
    losses = [json.loads(line)["loss"] for line in logs[0].splitlines() if line.startswith("{")]
    assert losses[-1] < losses[0] / 3
    assert "Test accuracy: " in logs[0]
    assert not any(line.startswith("{") for log in logs[1:] for line in log.splitlines())
