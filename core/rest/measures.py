"""Schemas and helpers for metrics, which are series over time, and telemetry, which is current."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.utils import timezone
from ninja import Field
from pydantic import AfterValidator, BeforeValidator

from core.rest.api import ApiError, Issue, Parameters, Wire, unreadable_request
from core.text import in_utc

MOST_GROUPS = 2
Key = tuple[str, str, str]  # field, value, and its name where it has one


def _split_commas(value: Any) -> Any:
    """Accept a repeated parameter or a comma-separated list, as Run:ai's client sends it."""
    if not isinstance(value, list):
        return value
    return [part for text in value for part in str(text).split(",") if part]


Moment = Annotated[datetime, AfterValidator(in_utc)]
Names = Annotated[list[str], BeforeValidator(_split_commas)]


class MeasureQuery(Parameters):
    """Which metrics to read, from which time, and at how many points of it."""

    metric_type: Names = Field(
        min_length=1, max_length=20, description="What was measured; separate several with commas"
    )
    start: Moment = Field(description="The start of the time span")
    end: Moment = Field(description="The end of the time span")
    number_of_samples: int = Field(
        default=20, ge=1, le=1000, description="The number of samples in the time span"
    )

    @property
    def step(self) -> timedelta:
        return (self.end - self.start) / self.number_of_samples

    def moments(self) -> list[datetime]:
        """The end times of ``number_of_samples`` equal parts of the period."""
        return [self.start + self.step * (part + 1) for part in range(self.number_of_samples)]

    def sample_index(self, moment: datetime) -> int:
        return min(int((moment - self.start) / self.step), self.number_of_samples - 1)

    def check(self, measured: Iterable[str]) -> None:
        """Raise ``ApiError`` 400 for an empty time span, and 501 for a type that is not
        measured."""
        if self.end <= self.start:
            raise unreadable_request([Issue(field="end", details="must be later than start")])
        refuse_unmeasured(self.metric_type, measured)


class MeasuredValue(Wire):
    """A number as text, like Run:ai's."""

    value: str = Field(description="The number, as text")
    timestamp: datetime = Field(description="The time of the value")


class MetricSeries(Wire):
    type: str = Field(description="What was measured")
    labels: dict[str, str] | None = Field(
        default=None, description="What it was measured for, by name; null for the entire workload"
    )
    values: list[MeasuredValue] = Field(description="The numbers, the oldest first")


class Measurements(Wire):
    measurements: list[MetricSeries] = Field(
        description="A series of values for each requested type"
    )


class GroupKey(Wire):
    key: str = Field(description="What the values are grouped by, such as ProjectId")
    value: str = Field(description="The group, such as the ID of a project")
    name: str | None = Field(default=None, description="The name")


class TelemetryValue(Wire):
    value: str = Field(description="The number, as text")
    groups: list[GroupKey] = Field(
        default=[], description="What was measured: the ID and the name of each requested group"
    )


class Telemetry(Wire):
    type: str = Field(description="What was measured")
    timestamp: datetime = Field(description="When it was measured")
    values: list[TelemetryValue] = Field(description="A number, or one for each group")


def measurement(name: str, points: Mapping[datetime, float]) -> MetricSeries:
    values = [
        MeasuredValue(value=f"{number:g}", timestamp=moment)
        for moment, number in sorted(points.items())
    ]
    return MetricSeries(type=name, values=values)


def sum_telemetry(
    telemetry_type: str, rows: Iterable[tuple[Sequence[Key], float | None]]
) -> Telemetry:
    """Sum the numbers of each group; ``None`` means unknown and is left out."""
    sums: dict[tuple[Key, ...], float] = {}
    for keys, number in rows:
        if number is not None:
            sums[*keys,] = sums.get((*keys,), 0.0) + number
    values = [
        TelemetryValue(
            value=f"{number:.12g}",
            groups=[
                GroupKey(key=field, value=group, name=name or None) for field, group, name in key
            ],
        )
        for key, number in sorted(sums.items())
    ]
    return Telemetry(type=telemetry_type, timestamp=timezone.now(), values=values)


def refuse_unmeasured(names: Iterable[str], measured: Iterable[str]) -> None:
    choices = sorted(measured)
    others = [name for name in names if name not in choices]
    if others:
        details = f"Measured are: {', '.join(choices)}."
        raise ApiError(501, f"Trainyard does not measure {', '.join(others)}.", details=details)


def check_groups(groups: Sequence[str], choices: Iterable[str]) -> None:
    words = sorted(choices)
    if len(groups) > MOST_GROUPS or not set(groups) <= set(words):
        details = f"must be at most {MOST_GROUPS} of {', '.join(words)}"
        raise unreadable_request([Issue(field="groupBy", details=details)])
