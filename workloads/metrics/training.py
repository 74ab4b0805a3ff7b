"""Draw what trainings report: one training with its splits and ranks, or several together."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from workloads.metrics.buckets import Point, thin_bands, thin_points
from workloads.metrics.chart import (
    FEWEST_POINTS,
    LINES,
    MOST_POINTS,
    Chart,
    ChartLine,
    ChartView,
    Mark,
    band_line,
    band_point,
)
from workloads.metrics.names import label_of, sort_key, split_name
from workloads.metrics.numbers import Stored, finite_value, text_of_number
from workloads.metrics.series import MetricSource, Reported, Series, read_training

MOST_POINTS_OF_ALL = 12_000  # of all charts together


def training_charts(reported: Reported, view: ChartView) -> list[Chart]:
    """Return charts of the metrics that one training reported. The splits of a metric, such as
    ``loss`` and ``val_loss``, share a chart."""
    bases: dict[str, list[str]] = defaultdict(list)
    for name in sorted(reported.series, key=sort_key):
        bases[split_name(name)[1]].append(name)
    most = _points_per_line(len(reported.series))
    return [_split_chart(reported, names, view, most) for names in bases.values()]


def _split_chart(reported: Reported, names: list[str], view: ChartView, most: int) -> Chart:
    lines: list[ChartLine] = []
    marks: list[Mark] = []
    for name in names:
        for line, line_marks in _lines_of_metric(reported, name, view, most):
            label = f"{name} {line.label}".strip() if len(names) > 1 else line.label or name
            lines.append(replace(line, label=label, number=len(lines)))
            marks += line_marks
    is_shared = len(names) > 1
    base = split_name(names[0])[1] if is_shared else names[0]
    return Chart(base, label_of(base), view.axis, names, lines, sorted(marks), dashed=is_shared)


def _lines_of_metric(
    reported: Reported, name: str, view: ChartView, most: int
) -> Iterator[tuple[ChartLine, list[Mark]]]:
    """Yield the lines of a metric with their marks: one, or one a rank if the reader wants that.
    Their labels tell the ranks alone."""
    ranks = reported.series[name]
    if len(ranks) == 1:
        yield _draw_line(reported, reported.of_lowest_rank(name), view, most)
    elif view.ranks == LINES:
        few = max(most // len(ranks), FEWEST_POINTS)
        for rank, values in sorted(ranks.items()):
            line, marks = _draw_line(reported, values, view, few)
            yield replace(line, label=f"rank {rank}"), marks
    else:
        band, marks = _draw_band(reported, ranks, view, most)
        yield replace(band, label=f"median of {len(ranks)} ranks"), marks


def compared_charts(
    sources: Sequence[MetricSource], labels: Sequence[str], view: ChartView
) -> list[Chart]:
    """Return charts in which each source has a line, with its number among the sources."""
    reported = read_training(sources)
    names = {name for one in reported for name in one.series}
    most = _points_per_line(len(names) * len(sources))
    charts: list[Chart] = []
    for name in sorted(names, key=sort_key):
        lines: list[ChartLine] = []
        marks: list[Mark] = []
        for number, one in enumerate(reported):
            if values := one.of_lowest_rank(name):
                line, line_marks = _draw_line(one, values, view, most)
                lines.append(replace(line, label=labels[number], number=number))
                marks += line_marks
        missing = len(sources) - len(lines)
        label = label_of(name)
        if missing:
            label = f"{label}, reported by {len(lines)} of {len(sources)}"
        charts.append(Chart(name, label, view.axis, [name], lines, sorted(marks), dashed=True))
    return charts


def _points_per_line(lines: int) -> int:
    return max(min(MOST_POINTS, MOST_POINTS_OF_ALL // max(lines, 1)), FEWEST_POINTS)


def _draw_line(
    reported: Reported, series: Series, view: ChartView, most: int
) -> tuple[ChartLine, list[Mark]]:
    """Return a line without a label, and its marks."""
    places = [pair for pair in reported.along(series, view.axis) if view.contains(pair[0])]
    stored = dict(places)
    points: list[Point] = [(place, finite_value(value)) for place, value in places]
    thinned = thin_points(points, most)
    marks = [(place, text_of_number(stored[place])) for place, y in thinned if y is None]
    return ChartLine("", 0, [place for place, _ in thinned], [y for _, y in thinned]), marks


def _draw_band(
    reported: Reported, ranks: Mapping[int, Series], view: ChartView, most: int
) -> tuple[ChartLine, list[Mark]]:
    """Return the median of the ranks as a line without a label, in a band from the lowest to the
    highest, and marks where the number of any rank is not finite."""
    values: dict[float, list[Stored]] = defaultdict(list)
    for rank_values in ranks.values():
        for place, stored in reported.along(rank_values, view.axis):
            if view.contains(place):
                values[place].append(stored)
    points = thin_bands([band_point(place, values[place]) for place in sorted(values)], most)
    places = [point[0] for point in points]
    marks: dict[float, str] = {}
    for place, found in values.items():
        odd = next((stored for stored in found if finite_value(stored) is None), None)
        if odd is not None:
            marks[places[bisect_left(places, place)]] = text_of_number(odd)
    return band_line(points), sorted(marks.items())
