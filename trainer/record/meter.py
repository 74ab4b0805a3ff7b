"""Loss, accuracy and speed between two samples."""

import time
from dataclasses import dataclass, field

import torch

from trainer.gang.group import Group


@dataclass
class SampleMeter:
    """Sums over all ranks since the last sample, as of the last time they were gathered.

    The sums are saved with a checkpoint, so that a resumed curve is the same; the speed is that
    of this process alone.
    """

    loss: float = 0.0
    correct: float = 0.0
    samples: float = 0.0
    samples_here: int = field(default=0, init=False)
    since: float = field(default_factory=time.monotonic, init=False)
    # This rank's part since then. Single precision adds up exactly in double, in any order.
    _loss: torch.Tensor | None = field(default=None, init=False)
    _correct: torch.Tensor | None = field(default=None, init=False)

    def add(self, loss: torch.Tensor, correct: torch.Tensor, samples: int) -> None:
        """Count one more step: this rank's summed loss and correct answers; the whole batch."""
        if self._loss is None or self._correct is None:
            self._loss, self._correct = loss.double(), correct.clone()
        else:
            self._loss += loss
            self._correct += correct
        self.samples += samples
        self.samples_here += samples

    def gather(self, ranks: Group) -> None:
        """Add up what each rank has counted. Every rank must call it after the same step."""
        if self._loss is None or self._correct is None:
            return
        loss, correct = ranks.add(self._loss.item(), self._correct.item())
        self.loss += loss
        self.correct += correct
        self._loss = self._correct = None

    def sums(self) -> list[float]:
        """What `Meter(*sums)` goes on from."""
        return [self.loss, self.correct, self.samples]

    def read(self) -> dict[str, float]:
        """The values of a sample."""
        return {
            "loss": self.loss / self.samples,
            "accuracy": self.correct / self.samples,
            "samples_per_second": self.samples_here / (time.monotonic() - self.since),
        }
