"""Ranks train on every sample once an epoch."""

import pytest
import torch

from trainer.gang.order import Order, share

ORDER = Order(samples=23, batch_size=5, seed=3)


def epoch(order: Order, number: int) -> list[int]:
    first = (number - 1) * order.steps_per_epoch + 1
    steps = range(first, first + order.steps_per_epoch)
    return [int(index) for step in steps for index in order.batch(step)]


def test_an_epoch_has_every_sample_once_and_keeps_the_short_batch() -> None:
    assert ORDER.steps_per_epoch == 5
    assert sorted(epoch(ORDER, 1)) == list(range(23))
    assert [len(ORDER.batch(step)) for step in range(1, 6)] == [5, 5, 5, 5, 3]


def test_epochs_and_seeds_differ_and_repeat() -> None:
    again = Order(23, 5, seed=3)
    other = Order(23, 5, seed=9)
    assert epoch(ORDER, 1) == epoch(again, 1)
    assert epoch(ORDER, 1) != epoch(ORDER, 2)
    assert epoch(ORDER, 1) != epoch(other, 1)


def test_steps_of_a_training_count_from_one() -> None:
    assert [ORDER.epoch(step) for step in (1, 5, 6, 10, 11)] == [1, 1, 2, 2, 3]
    assert [step for step in range(1, 11) if ORDER.ends_epoch(step)] == [5, 10]


@pytest.mark.parametrize("world_size", [1, 2, 3, 5, 8])
def test_ranks_divide_a_batch_without_rest_or_overlap(world_size: int) -> None:
    batch = ORDER.batch(1)
    shares = [share(batch, rank, world_size) for rank in range(world_size)]
    assert sorted(torch.cat(shares).tolist()) == sorted(batch.tolist())
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
