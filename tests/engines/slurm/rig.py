"""The engine on a real Slurm, and the programs that the contract needs."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from engines.base import EngineUnavailable, Launch, Site
from engines.slurm.client import files
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.site import SlurmSite
from spec.parts.scheduling import PriorityClass
from tests.engines.contract import OVER, Rig, launch
from tests.slurm_testbed import Testbed, run
from tests.waiting import wait_for

T = TypeVar("T")
TRIES_A_MOUNT = ["srun", "--ntasks=1", "--time=1", "unshare", "--user", "--mount", "true"]
CLEAN = """
scancel --user="$(id -un)" --full --signal=KILL
scancel --user="$(id -un)"
rm -rf "$1"
"""


def tolerant(ask: Callable[[], T]) -> T | None:
    """Return what ``ask`` returns, or ``None`` while the cluster is out of reach."""
    try:
        return ask()
    except EngineUnavailable:
        return None


class SlurmRig(Rig):
    """The engine, and launches for it."""

    pause = 0.1

    def __init__(self, testbed: Testbed) -> None:
        self.testbed = testbed
        self.transport = testbed.transport()
        self.site = SlurmSite(testbed.directory)
        files.run_program(self.transport, 'mkdir -p "$1/workloads"', self.site.directory)
        self.engine: SlurmEngine = SlurmEngine(self.transport, self.site, interval=0.5)

    def prints(self) -> Launch:
        return self.shell("echo hello")

    def fails(self) -> Launch:
        return self.shell("[ $RANK = 0 ] && exec sleep 60; exit 3")

    def endless(self) -> Launch:
        return self.shell("exec sleep 600")

    def asks_too_much(self) -> Launch:
        return self.shell("true", max_replicas=4, priority_class=PriorityClass.VERY_HIGH)

    def shell(self, script: str, **fields: Any) -> Launch:
        """Return a launch whose ranks run a shell script."""
        quick: dict[str, Any] = {"termination_grace_period_seconds": 1}
        return launch(f"/bin/bash -c {shlex.quote(script)}", **quick | fields)

    def of_all_cores(self, script: str, *, ranks: int = 0, **fields: Any) -> Launch:
        """Return a launch whose ranks take one node each. Without a number of ranks, it takes all
        nodes."""
        ranks = ranks or len(self.testbed.told["nodes"])
        launched = self.shell(script, num_workers=ranks - 1, **fields)
        compute = launched.spec.worker.compute.model_copy(update={"cpu_core_request": 4})
        worker = launched.spec.worker.model_copy(update={"compute": compute})
        spec = launched.spec.model_copy(update={"worker": worker})
        qos = (spec.priority_class,) if spec.priority_class else ()
        return replace(launched, spec=spec, site=Site(priority_classes=qos))

    def is_over(self, launched: Launch) -> bool:
        shown = self.engine.observe(launched.handle)
        return bool(shown and shown.phase in OVER)

    def submit_patiently(self, launched: Launch) -> None:
        """Submit as Trainyard does, which tries again while the cluster is out of reach."""

        def tries() -> bool:
            try:
                self.engine.submit(launched)
            except EngineUnavailable:
                return False
            return True

        wait_for(tries, 90, "Slurm to accept it", every=0.5)

    def need_mounts(self) -> None:
        """Skip the test if the nodes do not let users mount anything."""
        answer = self.transport.run(TRIES_A_MOUNT)
        if answer.code:
            pytest.skip(f"the nodes allow no mounts to users: {answer.message}")

    def clean(self) -> None:
        """End and delete what tests left."""
        files.run_program(self.transport, CLEAN, self.site.directory)
        words = ["sinfo", "--noheader", "--Node", "--states=drain,down", "--format=%N"]
        for node in set(self.transport.run(words).out.split()):
            run("resume", node)  # a controller that lost its jobs drains their nodes
