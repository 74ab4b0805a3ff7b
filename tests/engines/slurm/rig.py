"""The engine on a real Slurm, and the programs that the contract knows."""

import shlex
from typing import Any

from engines.base import Launch
from engines.slurm.client import files
from engines.slurm.engine import SlurmEngine
from engines.slurm.script.site import SlurmSite
from spec.scheduling import PriorityClass
from tests.engines.contract import Rig, launch
from tests.slurm_testbed import Testbed, run

CLEAN = """
scancel --user="$(id -un)" --full --signal=KILL
scancel --user="$(id -un)"
rm -rf "$1"
"""


class SlurmRig(Rig):
    def __init__(self, testbed: Testbed) -> None:
        self.testbed, self.transport = testbed, testbed.transport()
        self.site = SlurmSite(testbed.directory)
        files.sh(self.transport, 'mkdir -p "$1"', self.site.directory)
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
        quick: dict[str, Any] = {"termination_grace_period_seconds": 1}
        return launch(f"/bin/bash -c {shlex.quote(script)}", **quick | fields)

    def clean(self) -> None:
        """End and remove what tests left."""
        files.sh(self.transport, CLEAN, self.site.directory)
        words = ["sinfo", "--noheader", "--Node", "--states=drain,down", "--format=%N"]
        for node in set(self.transport.run(words).out.split()):
            run("resume", node)  # a controller that forgot its jobs drains nodes that have them
