"""The fields of Run:ai's quickstart for distributed training: each as it is posted, as the spec has
it then, and as each engine gets it.

The numbers are those of the document's steps.
"""

from dataclasses import dataclass
from typing import Any

from tests.workloads.wizard.browser import item

Json = dict[str, Any]
Posted = dict[str, str]
VARIABLES, TOOLS, POOLS = "worker-environmentVariables", "worker-connections", "nodePools"
ME = "ranks run as the user of this server"
ME_THERE = "ranks run as the user that Trainyard is on the cluster"
NO_VOLUMES = "Slurm makes no volumes"


class Script(str):
    """Words of the files that Slurm is given."""


@dataclass(frozen=True)
class FieldRow:
    """``spec`` and ``kubernetes`` are parts of the documents, ``local`` of one of its processes,
    ``slurm`` of its files; or words with which that engine refuses the field; or nothing, where it
    has no use for what the field says, and runs the workload all the same. ``of_value``: it depends
    on what is entered whether an engine refuses it."""

    step: int
    field: str
    posted: Posted
    spec: Json
    kubernetes: Json | str
    local: Json | str | None = None
    slurm: Script | str | None = None
    of_value: bool = False

    def on(self, kind: str) -> Json | Script | str | None:
        """What becomes of it on a cluster of this kind."""
        parts = {"kubernetes": self.kubernetes, "local": self.local, "slurm": self.slurm}
        return parts[kind]

    def is_refused_on(self, kind: str) -> bool:
        part = self.on(kind)
        return isinstance(part, str) and not isinstance(part, Script)

    def __str__(self) -> str:
        return f"{self.step} {self.field}"


def replica(**fields: str) -> Posted:
    """Fields of the workers; a double underscore stands for a step down."""
    return {f"worker-{key.replace('__', '-')}": value for key, value in fields.items()}


def variable(**cells: str) -> Posted:
    return {VARIABLES: "rows", **{f"{VARIABLES}-0-{key}": value for key, value in cells.items()}}


def label(key: str, **cells: str) -> Posted:
    return {f"worker-{key}": "rows", **replica(**{f"{key}__0__{it}": cells[it] for it in cells})}


def tool(**cells: str) -> Posted:
    usual = {"tool_type": "custom", "name": "board", "container_port": "6006"}
    usual |= {"connection_type": "ExternalUrl", "external_url": "", "node_port": "", "access": ""}
    return item(TOOLS) | {f"{TOOLS}-0-{key}": value for key, value in (usual | cells).items()}


def tolerates(**cells: str) -> Posted:
    return item("worker-tolerations", 0, **{"key": "gpu", "operator": "", "value": ""} | cells)


def near(kind: str) -> Posted:
    return item("worker-podAffinity", 0, type=kind, key="rack")


def claim(**cells: str) -> Posted:
    """A volume of 10 GB at ``/data``; a mode is named by its first letters."""
    parts = {"claimInfo-size": "10", "claimInfo-size-unit": "G", "claimInfo-volumeMode": ""}
    parts |= {"path": "/data"}
    parts |= {key.replace("__", "-"): value for key, value in cells.items()}
    if not any("accessModes" in key for key in parts):
        parts["claimInfo-accessModes-readWriteOnce"] = "on"
    name = "worker-storage-pvc"
    return item(name) | {f"{name}-0-{key}": value for key, value in parts.items()}


def lasting(key: str, number: str, unit: str) -> Posted:
    return {key: number, f"{key}-unit": unit}
