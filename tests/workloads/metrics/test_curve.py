"""How a number went, in as few points as a row has room for."""

from itertools import pairwise

import pytest

from workloads.metrics.curve import MOST_POINTS, extend_curves, join_points
from workloads.models import Sample
from workloads.templatetags.curves import polyline_points


def samples(*points: tuple[int, float], rank: int = 0) -> list[Sample]:
    return [Sample(rank=rank, step=step, values={"loss": value}) for step, value in points]


def test_a_long_training_keeps_points_all_along_its_course() -> None:
    curves: dict[str, list[list[float]]] = {}
    for start in range(0, 10_000, 250):
        batch = [(step, 1 / (step + 1)) for step in range(start, start + 250)]
        curves = extend_curves(curves, samples(*batch))
    steps = [step for step, _ in curves["loss"]]
    assert len(steps) <= MOST_POINTS
    assert (steps[0] < 250, steps[-1]) == (True, 9999)
    assert max(after - before for before, after in pairwise(steps)) < 1000


def test_a_step_that_is_done_again_takes_the_place_of_what_was() -> None:
    before = [[10.0, 3.0], [20.0, 2.0], [30.0, 9.0]]
    assert join_points(before, [[20.0, 2.5]]) == [[10.0, 3.0], [20.0, 2.5]]


def test_the_lowest_rank_speaks_for_all() -> None:
    both = samples((1, 5.0), rank=1) + samples((1, 4.0), rank=0)
    assert extend_curves({}, both)["loss"] == [[1, 4.0]]


@pytest.mark.parametrize(
    ("points", "line"),
    [
        ([], ""),
        ([[1, 2.0]], ""),
        ([[0, 1.0], [10, 1.0]], "1.5,9.0 62.5,9.0"),
        ([[0, 2.0], [10, 1.0]], "1.5,1.5 62.5,16.5"),
    ],
)
def test_a_higher_value_is_drawn_higher(points: list[list[float]], line: str) -> None:
    assert polyline_points(points) == line
