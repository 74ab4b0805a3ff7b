"""Loss, accuracy and speed between two samples."""

import time
from dataclasses import dataclass, field


@dataclass
class Meter:
    """Sums over all ranks since the last sample.

    The sums are saved with a checkpoint, so that a resumed curve is the same; the speed is that
    of this process alone.
    """

    loss: float = 0.0
    correct: float = 0.0
    samples: float = 0.0
    samples_here: float = field(default=0.0, init=False)
    since: float = field(default_factory=time.monotonic, init=False)

    def add(self, loss: float, correct: float, samples: int) -> None:
        """Count one more step: summed loss, correct answers and size of its batch."""
        self.loss += loss
        self.correct += correct
        self.samples += samples
        self.samples_here += samples

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
