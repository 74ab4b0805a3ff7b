"""scikit-learn's handwritten digits, in batches that the ranks divide among themselves."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

PIXELS = 64
CLASSES = 10
TEST_SHARE = 0.2
Floats = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class TrainingFlags:
    """The flags that the examples have in common. ``batch_size`` counts the samples of a step over
    all ranks."""

    epochs: int
    batch_size: int
    lr: float
    log_interval: int
    seed: int

    def share(self, ranks: int) -> int:
        """Return how many samples of a batch each rank takes: at least 1, the same for all."""
        return max(self.batch_size // ranks, 1)


def parse_flags(program: str, argv: Sequence[str]) -> TrainingFlags:
    """Parse the flags of one of the examples. Wrong ones end the process with code 2."""
    parser = argparse.ArgumentParser(f"python -m trainer.examples {program}")
    parser.add_argument("--epochs", type=int, default=40, help="passes over the digits")
    parser.add_argument("--batch-size", type=int, default=64, help="samples of a step, all ranks")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--log-interval", type=int, default=20, help="steps between two samples")
    parser.add_argument("--seed", type=int, default=1)
    return TrainingFlags(**vars(parser.parse_args(argv)))


@dataclass(frozen=True)
class Samples:
    """Images and their labels (n), which are digits from 0 to 9."""

    images: Floats  # (n, PIXELS), from 0 to 1
    labels: Labels

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.labels)


def load(seed: int) -> tuple[Samples, Samples]:
    """Return the samples for training and those for testing, the same on every rank."""
    bundled = load_digits()
    images = (bundled.data / 16).astype(np.float32)
    labels = bundled.target.astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(labels))
    test, train = np.split(order, [round(len(order) * TEST_SHARE)])
    return Samples(images[train], labels[train]), Samples(images[test], labels[test])


def batches(
    digits: Samples, flags: TrainingFlags, rank: int, ranks: int
) -> Iterator[tuple[int, Samples]]:
    """Yield each step, counted from 1, and the samples that this rank trains on in it.

    Each epoch drops the samples left over at its end, so that all ranks have equally many in every
    step.
    """
    step = 0
    size = flags.share(ranks)
    for epoch in range(flags.epochs):
        order = np.random.default_rng(flags.seed + epoch).permutation(len(digits))
        for first in range(0, len(digits) - size * ranks + 1, size * ranks):
            step += 1
            share = order[first + rank * size : first + (rank + 1) * size]
            yield step, Samples(digits.images[share], digits.labels[share])


def first_weights(seed: int, hidden: int = 32) -> list[Floats]:
    """Return the first weights of a network with one hidden layer, the same on every rank.

    In order: (PIXELS, hidden), (hidden), (hidden, CLASSES), (CLASSES).
    """
    random = np.random.default_rng(seed)
    shapes = ((PIXELS, hidden), (hidden,), (hidden, CLASSES), (CLASSES,))
    return [
        random.normal(0, 0.1, shape).astype(np.float32)
        if len(shape) > 1
        else np.zeros(shape, np.float32)
        for shape in shapes
    ]
