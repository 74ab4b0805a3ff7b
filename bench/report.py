"""Rows of the table of benchmarks, and the page that keeps it."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Measurement:
    """One row of the table: ``ours`` and ``peer`` are in ``unit``.

    ``limit`` is the highest allowed ``value``, which is the ratio of ours to the peer, or ours if
    there is no peer.
    """

    what: str
    ours: float
    unit: str
    limit: float
    peer: float | None = None
    peer_name: str = ""

    @property
    def value(self) -> float:
        """The number that the limit applies to."""
        return self.ours if self.peer is None else self.ours / self.peer

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit."""
        return self.value <= self.limit

    def cells(self) -> list[str]:
        """Return the cells of the row, as Markdown shows them."""
        peer = "-" if self.peer is None else f"{self.peer:.4g} {self.unit} ({self.peer_name})"
        value = f"{self.value:.4g} {self.unit}" if self.peer is None else f"{self.value:.2f} x"
        limit = f"<= {self.limit:.4g} {self.unit if self.peer is None else 'x'}"
        mark = "yes" if self.holds else "NO"
        return [self.what, f"{self.ours:.4g} {self.unit}", peer, value, limit, mark]


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that ``share`` of all values, from 0 to 1, do not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def table(rows: Iterable[Measurement]) -> str:
    """Return the rows as a table in Markdown."""
    head = ["What", "Trainyard", "Peer", "Value", "Limit", "Holds"]
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    """Return cores, memory, system and Python version of this machine, for the page."""
    memory = psutil.virtual_memory().total / 1000**3
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB of memory, "
        f"{platform.system()}, Python {platform.python_version()}"
    )


def commit() -> str:
    """Return the short hash of the current commit."""
    described = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 -- the git on the PATH
        cwd=PAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


def write(rows: Iterable[Measurement], section: str, page: Path = PAGE) -> None:
    """Replace the table below the heading ``section`` of the page.

    It is preceded by the date, the commit and the machine. Everything else on the page stays as it
    is.
    """
    day = datetime.now(UTC).date().isoformat()
    facts = f"Measured on {day} at commit {commit()}, on {machine()}."
    measured = f"## {section}\n\n{facts}\n\n{table(rows)}\n"
    text = page.read_text()
    earlier = rf"^## {re.escape(section)}\n\n(?:[^|#\n].*\n)+\n(?:\|.*\n)+"
    text, replaced = re.subn(earlier, lambda _: measured, text, count=1, flags=re.MULTILINE)
    page.write_text(text if replaced else f"{text}\n{measured}")
