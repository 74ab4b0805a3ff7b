"""Batch scripts for the local engine, and what became of them."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from engines.base import Handle, Launch, Observation
from spec.formats.documents import from_wire, load_spec
from spec.imports.hosts import ScriptHost
from spec.imports.sbatch import import_script
from tests.engines.local.conftest import LocalRig


@dataclass(frozen=True)
class Ended:
    """A script that has run. ``logs`` are the outputs of its ranks, in order."""

    observation: Observation
    logs: list[str]

    @property
    def output(self) -> str:
        return self.logs[0]


def launch_script(body: str, options: str = "-n 2", **fields: Any) -> Launch:
    """Return the launch of a bash script. ``fields`` are those of the spec in JSON."""
    return launch_text(f"#!/bin/bash\n#SBATCH {options}\n{body}\n", **fields)


def launch_text(text: str, **fields: Any) -> Launch:
    script = import_script(text, unchanged=True, host=ScriptHost.MACHINE)
    wire = script.spec | {"backoffLimit": 0} | fields
    master = script.master(wire)
    document = from_wire(wire, no_master=master is None, master=master)
    return Launch(Handle(uuid4(), "script", "team-a"), 1, load_spec(document))


def run_script(rig: LocalRig, body: str, options: str = "-n 2", **fields: Any) -> Ended:
    """Run a bash script to its end."""
    return wait_for_end(rig, rig.submit(launch_script(body, options, **fields)))


def wait_for_end(rig: LocalRig, launched: Launch) -> Ended:
    observation = rig.over(launched)
    logs = [rig.log(launched, rank.rank) for rank in observation.ranks]
    return Ended(observation, logs)
