"""A checkpoint that a training has reported, as its workload stores it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True)
class Checkpoint:
    """``size`` is in bytes; ``None`` if the training does not report it."""

    run: int
    step: int
    at: datetime
    size: int | None

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> Self:
        at = datetime.fromisoformat(entry["at"])
        return cls(entry["run"], entry["step"], at, entry["bytes"])
