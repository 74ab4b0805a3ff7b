"""What the names of metrics tell: the split of the data, and which way is better."""

import pytest

from workloads.compare.results import best_value
from workloads.metrics.names import Goal, goal_of, split_name
from workloads.metrics.numbers import Stored
from workloads.metrics.series import ReportedValue


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
    values = [ReportedValue(step, 0.0, it) for step, it in enumerate(stored)]
    lowest = best_value(values, Goal.LOWEST)
    highest = best_value(values, Goal.HIGHEST)
    assert lowest
    assert highest
    assert (lowest.step, highest.step) == (2, 3)
    assert best_value(values, Goal.UNKNOWN) is None
    assert best_value(values[:1], Goal.LOWEST) is None
