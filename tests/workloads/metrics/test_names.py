"""What the names of metrics tell: the split of the data, and which way is better."""

import pytest

from workloads.compare.results import find_best
from workloads.metrics.names import Goal, goal_of, split_name
from workloads.metrics.numbers import Stored
from workloads.metrics.series import Series


@pytest.mark.parametrize(
    ("name", "split", "base"),
    [
        ("loss", "", "loss"),
        ("val_loss", "val", "loss"),
        ("train/loss", "train", "loss"),
        ("loss/eval", "eval", "loss"),
        ("Test.top1", "test", "top1"),
        ("validity", "", "validity"),
        ("test", "", "test"),
    ],
)
def test_a_name_tells_its_split(name: str, split: str, base: str) -> None:
    assert split_name(name) == (split, base)


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("val_loss", Goal.LOWEST),
        ("loss/train", Goal.LOWEST),
        ("perplexity", Goal.LOWEST),
        ("test_accuracy", Goal.HIGHEST),
        ("eval/f1", Goal.HIGHEST),
        ("mAP50", Goal.HIGHEST),
        ("top5_acc", Goal.HIGHEST),
        ("tokens_per_second", Goal.HIGHEST),
        ("step_seconds", Goal.LOWEST),
        ("word_error_rate", Goal.LOWEST),
        ("learning_rate", Goal.UNKNOWN),
        ("lr", Goal.UNKNOWN),
        ("loss_scale", Goal.UNKNOWN),
        ("grad_norm", Goal.UNKNOWN),
    ],
)
def test_a_name_tells_which_way_is_better(name: str, goal: Goal) -> None:
    assert goal_of(name) is goal


def test_the_best_is_the_earliest_finite_one() -> None:
    stored: tuple[Stored, ...] = ("NaN", 2.0, 1.0, 3.0, 1.0, "-Infinity")
    series = Series(list(range(len(stored))), [0.0] * len(stored), list(stored))
    assert find_best(series, Goal.LOWEST) == (1.0, 2)
    assert find_best(series, Goal.HIGHEST) == (3.0, 3)
    assert find_best(series, Goal.UNKNOWN) is None
    assert find_best(Series([0], [0.0], ["NaN"]), Goal.LOWEST) is None
