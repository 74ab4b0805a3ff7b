"""Rows of random numbers, whose classes follow from a hidden rule. They are generated, so that
nothing has to be fetched."""

import torch

from trainer.data.sets import DataSet, Split

ROWS = 1000
COLUMNS = 10
CLASSES = 3
TEST_ROWS = 200


def load(seed: int) -> DataSet:
    """Generate rows (n, 10) of floats and their classes. The same seed gives the same rows on every
    rank."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(ROWS + TEST_ROWS, COLUMNS, generator=generator)
    rule = torch.randn(COLUMNS, CLASSES, generator=generator)
    labels = (rows @ rule).argmax(dim=1)
    train = Split(rows[:ROWS], labels[:ROWS])
    return DataSet(train, Split(rows[ROWS:], labels[ROWS:]), f"random rows of seed {seed}")
