"""Loss, accuracy and speed since the last sample of metrics."""

import time
from dataclasses import dataclass, field

import torch

from trainer.gang.group import Group


@dataclass
class SampleMeter:
    """Sums since the last sample of metrics, over all ranks, as of the last ``gather``.

    The sums are saved with a checkpoint, so that a resumed training continues the same curve. The
    speed is not saved, because it counts only the time of this process.
    """

    loss: float = 0.0
    correct: float = 0.0
    samples: float = 0.0
    samples_here: int = field(default=0, init=False)
    since: float = field(default_factory=time.monotonic, init=False)
    # This rank's part since the last ``gather``. Single-precision losses are added in double
    # precision, so that their order does not show in the result.
    _loss: torch.Tensor | None = field(default=None, init=False)
    _correct: torch.Tensor | None = field(default=None, init=False)

    def add(self, loss: torch.Tensor, correct: torch.Tensor, samples: int) -> None:
        """Count one step: loss and correct answers are sums over this rank's share, ``samples`` is
        the size of the whole batch."""
        if self._loss is None or self._correct is None:
            self._loss = loss.double()
            self._correct = correct.clone()
        else:
            self._loss += loss
            self._correct += correct
        self.samples += samples
        self.samples_here += samples

    def gather(self, ranks: Group) -> None:
        """Add what every rank has counted to the sums. Every rank must call it after the
        same step."""
        if self._loss is None or self._correct is None:
            return
        loss, correct = ranks.sum_over_ranks(self._loss, self._correct)
        self.loss += loss
        self.correct += correct
        self._loss = self._correct = None

    def sums(self) -> list[float]:
        """Return the sums, from which ``SampleMeter(*sums)`` continues."""
        return [self.loss, self.correct, self.samples]

    def read(self) -> dict[str, float]:
        """Return mean loss, accuracy from 0 to 1, and samples per second over all ranks."""
        return {
            "loss": self.loss / self.samples,
            "accuracy": self.correct / self.samples,
            "samples_per_second": self.samples_here / (time.monotonic() - self.since),
        }
