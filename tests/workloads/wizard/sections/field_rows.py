"""The fields of Run:ai's quickstart for distributed training: how each is posted, stored in the
spec, and submitted by each engine.

The numbers are the steps of that document.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.workloads.wizard.browser import item

Json = dict[str, Any]
Posted = dict[str, str]
VARIABLES = "worker-environmentVariables"
TOOLS = "worker-connections"
POOLS = "nodePools"
TOLERATIONS = "worker-tolerations"
CLAIMS = "worker-storage-pvc"
MOST = 8  # items of a list
ME = "ranks run as the user of this server"
ME_THERE = "ranks run as the user that Trainyard is on the cluster"


class Script(str):
    """A text in the files that Slurm gets."""


@dataclass(frozen=True)
class FieldRow:
    """One field. What it becomes is in ``spec``, ``kubernetes`` (parts of the documents), ``local``
    (a part of one of its processes) and ``slurm`` (a text in its files).

    For an engine, this can also be the words with which it refuses the field, or nothing, if the
    engine ignores it and runs the workload anyway. With ``of_value``, an engine refuses it only for
    some values.
    """

    step: int
    field: str
    posted: Posted
    spec: Json
    kubernetes: Json | str
    local: Json | str | None = None
    slurm: Script | str | None = None
    of_value: bool = False

    def on(self, kind: str) -> Json | Script | str | None:
        """Return what the field becomes on a cluster of this kind."""
        parts = {"kubernetes": self.kubernetes, "local": self.local, "slurm": self.slurm}
        return parts[kind]

    def is_refused_on(self, kind: str) -> bool:
        """Whether a cluster of this kind refuses the field."""
        part = self.on(kind)
        return isinstance(part, str) and not isinstance(part, Script)

    def __str__(self) -> str:
        return f"{self.step} {self.field}"


def replica(**fields: str) -> Posted:
    """Return fields of the workers. A double underscore separates levels."""
    return {f"worker-{key.replace('__', '-')}": value for key, value in fields.items()}


def rows(name: str, at: int, cells: Mapping[str, str]) -> Posted:
    """Return one row of a table in the form, as a page posts it."""
    posted = {f"{name}-{at}-{key}": value for key, value in cells.items()}
    return {name: "rows", f"{name}-{at}-rest": "", **posted}


def variable(at: int, **cells: str) -> Posted:
    return rows(VARIABLES, at, cells)


def label(key: str, **cells: str) -> Posted:
    return rows(f"worker-{key}", 0, cells)


def tool(at: int, /, **cells: str) -> Posted:
    return item(TOOLS, at) | {f"{TOOLS}-{at}-{key}": value for key, value in cells.items()}


def tolerates(at: int = 0, /, **cells: str) -> Posted:
    return item(TOLERATIONS, at, **{"key": f"gpu-{at}"} | cells)


def affinity(kind: str) -> Posted:
    return item("worker-podAffinity", 0, type=kind, key="rack")


def claim(at: int, /, **cells: str) -> Posted:
    """Return a volume with some of its fields. An access mode is named by its first letters."""
    parts = {key.replace("__", "-"): value for key, value in cells.items()}
    return item(CLAIMS, at) | {f"{CLAIMS}-{at}-{key}": value for key, value in parts.items()}


def lasting(key: str, number: str, unit: str) -> Posted:
    return {key: number, f"{key}-unit": unit}


def whole(entered: Posted) -> Posted:
    """Add what each item needs in addition to the fields of its rows, and return all."""
    for at in range(MOST):
        if f"{TOOLS}-{at}-rest" in entered:
            usual = {"tool_type": "custom", "name": f"board-{at}", "connection_type": "ExternalUrl"}
            _usually(entered, f"{TOOLS}-{at}", usual | {"container_port": str(port(at))})
        if f"{CLAIMS}-{at}-rest" in entered:
            modes = [key for key in entered if key.startswith(f"{CLAIMS}-{at}-claimInfo-access")]
            usual = {} if modes else {"claimInfo-accessModes-readWriteOnce": "on"}
            usual |= {"claimInfo-size": "10", "claimInfo-size-unit": "G", "path": f"/data-{at}"}
            _usually(entered, f"{CLAIMS}-{at}", usual)
    return entered


def port(at: int) -> int:
    """Return the port of a tool."""
    return 6006 + at


def _usually(entered: Posted, prefix: str, usual: Posted) -> None:
    for key, value in usual.items():
        entered.setdefault(f"{prefix}-{key}", value)
