"""Which samples each step trains on. It does not depend on the number of ranks."""

from dataclasses import dataclass
from functools import lru_cache

import torch

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Order:
    """The order of the samples. Steps count from 1; each takes one slice of its epoch's
    permutation.

    The permutation depends only on the seed and the epoch, and the ranks divide each slice among
    themselves. So a training takes the same path with 1 rank or 8, and can be resumed at any step
    with another number of ranks. The last slice of an epoch may be shorter; it is never dropped.

    The numbers of the samples are on ``device``, where the samples are: a GPU would wait for each
    slice that is copied to it.
    """

    samples: int
    batch_size: int
    seed: int
    device: torch.device = CPU

    @property
    def steps_per_epoch(self) -> int:
        """The number of slices in an epoch, including the short last one."""
        return -(-self.samples // self.batch_size)

    def epoch(self, step: int) -> int:
        """Return the epoch of a step, counted from 1."""
        return (step - 1) // self.steps_per_epoch + 1

    def batch(self, step: int) -> torch.Tensor:
        """Return the indices of the samples of a step, for all ranks together: int64, at most
        ``batch_size`` of them."""
        first = (step - 1) % self.steps_per_epoch * self.batch_size
        shuffled = _permutation(self.samples, self.seed + self.epoch(step), self.device)
        return shuffled[first : first + self.batch_size]

    def ends_epoch(self, step: int) -> bool:
        """Whether the step is the last of its epoch."""
        return step % self.steps_per_epoch == 0


def share(batch: torch.Tensor, rank: int, world_size: int) -> torch.Tensor:
    """Return one rank's part of a batch. It may be one sample smaller than another's, or empty."""
    return batch[rank::world_size]


@lru_cache(maxsize=2)
def _permutation(samples: int, seed: int, device: torch.device) -> torch.Tensor:
    """Return a permutation of the samples, the same on every device. Two are cached, because each
    epoch needs its own many times."""
    return torch.randperm(samples, generator=torch.Generator().manual_seed(seed)).to(device)
