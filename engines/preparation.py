"""How far a cluster is with what it gets ready before workloads can start."""

from dataclasses import dataclass
from enum import StrEnum


class PreparationStage(StrEnum):
    """The steps of a preparation, in order; the last two are its ends."""

    WAITING = "waiting"
    LISTING = "listing"  # asks the package index which files there are
    FETCHING = "fetching"
    UNPACKING = "unpacking"
    CHECKING = "checking"  # starts Python and imports torch
    READY = "ready"
    FAILED = "failed"


STEPS = {
    PreparationStage.WAITING: "Waiting for a worker to begin.",
    PreparationStage.LISTING: "Asking the package index which files are needed.",
    PreparationStage.FETCHING: "Fetching packages.",
    PreparationStage.UNPACKING: "Unpacking packages.",
    PreparationStage.CHECKING: "Checking whether torch works and sees GPUs.",
    PreparationStage.READY: "Ready.",
    PreparationStage.FAILED: "Failed.",
}


@dataclass(frozen=True)
class Preparation:
    """A preparation. ``done`` and ``total`` are bytes, ``speed`` is bytes a second.

    ``summary`` says what is ready. ``problem`` says why it failed, and ``advice`` what to do.
    """

    stage: PreparationStage
    summary: str = ""
    problem: str = ""
    advice: str = ""
    done: int = 0
    total: int = 0
    speed: float = 0.0

    @property
    def is_ready(self) -> bool:
        return self.stage is PreparationStage.READY

    @property
    def has_failed(self) -> bool:
        return self.stage is PreparationStage.FAILED

    @property
    def step(self) -> str:
        """What happens now, in words."""
        return STEPS[self.stage]

    @property
    def seconds_left(self) -> float | None:
        """The time until all is fetched; ``None`` if nobody can tell."""
        if self.stage is not PreparationStage.FETCHING or not self.speed:
            return None
        return (self.total - self.done) / self.speed

    @property
    def wait_message(self) -> str:
        """What a workload is told that waits for the preparation."""
        if self.has_failed:
            return f"PyTorch is not ready on this machine: {self.problem} {self.advice}"
        if self.stage is PreparationStage.FETCHING:
            amount = f"{self.done / 1e9:.1f} of {self.total / 1e9:.1f} GB are here"
            return f"It starts automatically once PyTorch is installed: {amount}."
        return "It starts automatically once PyTorch is installed on this machine."
