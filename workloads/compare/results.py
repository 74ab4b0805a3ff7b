"""What the compared workloads reached: the last and the best value of each metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workloads.compare.subjects import Selection
from workloads.metrics.names import Goal, goal_of, sort_key
from workloads.metrics.numbers import Stored, finite_value
from workloads.metrics.series import ReportedValue, read_training
from workloads.table.columns import format_figure


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
    names = {name for one in reported for name in one.values}
    return [
        _metric_row(name, [one.of_lowest_rank(name) for one in reported])
        for name in sorted(names, key=sort_key)
    ]


def _metric_row(name: str, columns: Sequence[Sequence[ReportedValue]]) -> MetricRow:
    goal = goal_of(name)
    bests = [best_value(values, goal) for values in columns]
    finite = [
        number for best in bests if best and (number := finite_value(best.stored)) is not None
    ]
    top = _best_number(finite, goal)
    is_contest = len(finite) > 1 and len(set(finite)) > 1
    cells = [
        _cell(values, best, is_contest and best is not None and best.stored == top)
        for values, best in zip(columns, bests, strict=True)
    ]
    return MetricRow(name, goal, cells)


def _cell(
    values: Sequence[ReportedValue], best: ReportedValue | None, is_winner: bool
) -> ResultCell | None:
    if not values:
        return None
    last = values[-1]
    if best is None:
        return ResultCell(_text(last.stored), last.step)
    return ResultCell(_text(last.stored), last.step, _text(best.stored), best.step, is_winner)


def best_value(values: Iterable[ReportedValue], goal: Goal) -> ReportedValue | None:
    """Return the earliest of the best finite values; ``None`` if no way is known to be better."""
    finite = [value for value in values if finite_value(value.stored) is not None]
    if not finite or goal is Goal.UNKNOWN:
        return None
    choose = min if goal is Goal.LOWEST else max
    return choose(finite, key=lambda value: finite_value(value.stored) or 0.0)


def _best_number(numbers: Sequence[float], goal: Goal) -> float | None:
    if not numbers or goal is Goal.UNKNOWN:
        return None
    return min(numbers) if goal is Goal.LOWEST else max(numbers)


def _text(stored: Stored) -> str:
    return format_figure(stored)
