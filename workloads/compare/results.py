"""What the compared workloads reached: the last and the best value of each metric."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workloads.compare.subjects import Selection
from workloads.metrics.names import Goal, goal_of, sort_key
from workloads.metrics.numbers import finite_value
from workloads.metrics.series import Series, read_training
from workloads.table.columns import format_figure

Best = tuple[float, int]  # a value and its step


@dataclass(frozen=True)
class ResultCell:
    """What one subject reached in a metric: texts of the last and of the best value with their
    steps. ``is_winner``: no other subject has a better best."""

    last: str
    last_step: int
    best: str = ""
    best_step: int = 0
    is_winner: bool = False


@dataclass(frozen=True)
class MetricRow:
    """A metric with a cell for each subject; ``None`` for those that do not report it."""

    name: str
    goal: Goal
    cells: Sequence[ResultCell | None]


def read_results(selection: Selection) -> list[MetricRow]:
    """Return a row for each metric that any of the subjects reports."""
    reported = read_training(selection.sources)
    names = {name for one in reported for name in one.series}
    return [
        _metric_row(name, [one.of_lowest_rank(name) for one in reported])
        for name in sorted(names, key=sort_key)
    ]


def _metric_row(name: str, columns: Sequence[Series]) -> MetricRow:
    goal = goal_of(name)
    bests = [find_best(series, goal) for series in columns]
    numbers = {best[0] for best in bests if best}
    top = _choose(numbers, goal) if len(numbers) > 1 else None
    cells = [
        _cell(series, best, is_winner=best is not None and best[0] == top)
        for series, best in zip(columns, bests, strict=True)
    ]
    return MetricRow(name, goal, cells)


def _cell(series: Series, best: Best | None, *, is_winner: bool) -> ResultCell | None:
    if not series:
        return None
    last = format_figure(series.stored[-1])
    if best is None:
        return ResultCell(last, series.steps[-1])
    number, step = best
    return ResultCell(last, series.steps[-1], format_figure(number), step, is_winner)


def find_best(series: Series, goal: Goal) -> Best | None:
    """Return the best finite value with the earliest step that has it; ``None`` if there is none,
    or if it is not known which way is better."""
    numbers = [finite_value(stored) for stored in series.stored]
    finite = [number for number in numbers if number is not None]
    if not finite or goal is Goal.UNKNOWN:
        return None
    best = _choose(finite, goal)
    return best, series.steps[numbers.index(best)]


def _choose(numbers: Collection[float], goal: Goal) -> float:
    return max(numbers) if goal is Goal.HIGHEST else min(numbers)
