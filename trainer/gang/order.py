"""Which samples each step trains on: the same for any number of ranks."""

from dataclasses import dataclass
from functools import lru_cache

import torch


@dataclass(frozen=True)
class Order:
    """Steps count from 1. Step k owns one slice of the epoch's permutation, over all ranks.

    The permutation depends on the seed and the epoch alone, and ranks divide each slice among
    themselves; so the training takes the same path with 1 rank or 8, and can resume at any
    step with another number of them. The last slice of an epoch is shorter, never dropped.
    """

    samples: int
    batch_size: int
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        """Slices of an epoch, the short last one included."""
        return -(-self.samples // self.batch_size)

    def epoch(self, step: int) -> int:
        """The epoch that the step belongs to, counted from 1."""
        return (step - 1) // self.steps_per_epoch + 1

    def batch(self, step: int) -> torch.Tensor:
        """Indices of the samples of the step, for all ranks together."""
        first = (step - 1) % self.steps_per_epoch * self.batch_size
        shuffled = _permutation(self.samples, self.seed + self.epoch(step))
        return shuffled[first : first + self.batch_size]

    def ends_epoch(self, step: int) -> bool:
        """Whether the step is the last of its epoch."""
        return step % self.steps_per_epoch == 0


def share(batch: torch.Tensor, rank: int, world_size: int) -> torch.Tensor:
    """The part of a batch that one rank takes: possibly one less than another, possibly none."""
    return batch[rank::world_size]


@lru_cache(maxsize=2)
def _permutation(samples: int, seed: int) -> torch.Tensor:
    return torch.randperm(samples, generator=torch.Generator().manual_seed(seed))
