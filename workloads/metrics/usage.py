"""Draw what the ranks of a workload use of their machines."""

from collections import defaultdict
from dataclasses import replace

from django.db.models import Max, Min

from workloads.metrics.buckets import bucket_width, thin_bands
from workloads.metrics.chart import (
    BAND,
    FEWEST_POINTS,
    MOST_POINTS,
    Chart,
    ChartLine,
    ChartView,
    band_line,
    band_point,
)
from workloads.metrics.names import label_of, sort_key
from workloads.metrics.series import Axis
from workloads.models import SampleKind, Workload

MOST_POINTS_IN_CHART = 6000  # per chart: with many ranks each has fewer points
MOST_RANK_LINES = 8  # more ranks are a band, unless lines are asked for
Places = dict[float, dict[int, float]]  # values by rank, by the place on the axis


def usage_charts(
    workload: Workload, run: int | None = None, view: ChartView | None = None, origin: float = 0.0
) -> list[Chart]:
    """Return charts of the ranks' usage by time, or by seconds since ``origin``.

    Of each span of time a rank's last sample counts, and the spans do not move, so that a chart
    that is drawn again shows the same.
    """
    view = (view or ChartView()).of_times()
    names = {rank.rank: rank.name for rank in workload.ranks.all()}
    samples = workload.samples.filter(kind=SampleKind.USAGE).order_by()
    if run is not None:
        samples = samples.filter(run=run)
    ends = samples.aggregate(first=Min("at"), last=Max("at"))
    if ends["first"] is None:
        return []
    zero = 0.0
    if view.axis is Axis.RELATIVE:
        zero = origin or ends["first"].timestamp()
    first = max(ends["first"].timestamp(), zero + view.low if view.low is not None else 0.0)
    last = ends["last"].timestamp()
    if view.high is not None:
        last = min(last, zero + view.high)
    budget = max(min(MOST_POINTS, MOST_POINTS_IN_CHART // max(len(names), 1)), FEWEST_POINTS)
    width = bucket_width(first, max(first, last), budget)
    values: dict[str, Places] = defaultdict(lambda: defaultdict(dict))
    rows = samples.order_by("at", "id").values_list("rank", "at", "values")
    for rank, at, numbers in rows.iterator():
        place = at.timestamp() // width * width - zero // width * width
        if view.contains(place):
            for name, value in numbers.items():
                values[name][place][rank] = value
    draw = _usage_band if _is_band(view, len(names)) else _usage_lines
    return [
        Chart(name, label_of(name), view.axis, [name], draw(values[name], names))
        for name in sorted(values, key=sort_key)
    ]


def _is_band(view: ChartView, ranks: int) -> bool:
    if ranks < 2:
        return False
    return view.ranks == BAND if view.ranks else ranks > MOST_RANK_LINES


def _usage_lines(places: Places, names: dict[int, str]) -> list[ChartLine]:
    ranks = sorted({rank for values in places.values() for rank in values})
    lines: list[ChartLine] = []
    for number, rank in enumerate(ranks):
        points = [(place, places[place][rank]) for place in sorted(places) if rank in places[place]]
        line = ChartLine(
            names.get(rank, f"rank {rank}"),
            number,
            [place for place, _ in points],
            [value for _, value in points],
        )
        lines.append(line)
    return lines


def _usage_band(places: Places, names: dict[int, str]) -> list[ChartLine]:
    points = [band_point(place, places[place].values()) for place in sorted(places)]
    return [
        replace(band_line(thin_bands(points, MOST_POINTS)), label=f"median of {len(names)} ranks")
    ]
