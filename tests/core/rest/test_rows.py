"""Filters and order of lists that no table holds."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.rest.api import ApiError
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields
from core.rest.rows import WholeListing

FIRST = UUID(int=1)
LAST = UUID(int=2)
NOON = datetime(2026, 11, 25, 12, 0, 0, 123_456, tzinfo=UTC)
FIELDS: Fields = {
    "name": ("name", TEXT),
    "size": ("size", NUMBER),
    "clusterId": ("cluster", ID),
    "createdAt": ("at", DATE),
}


@dataclass
class Row:
    name: str
    size: int | None
    cluster: str | None
    at: datetime


ROWS = [
    Row("vision", 3, str(FIRST), NOON),
    Row("Audio", None, None, NOON.replace(hour=13)),
    Row("video", 1, str(LAST), NOON.replace(hour=11)),
]


def names(**asked: object) -> list[str]:
    listing = WholeListing.model_validate(asked)
    return [row.name for row in listing.select(ROWS, FIELDS, "name")]


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("name==vision", ["vision"]),
        ("name!=vision", ["Audio", "video"]),
        ("name=^vi", ["vision", "video"]),
        ("name=$O", ["Audio", "video"]),
        ("name=@IO", ["vision", "Audio"]),
        ("name!@io", ["video"]),
        ("size>=2", ["vision"]),
        ("size<=1", ["video"]),
        ("size!=1", ["vision", "Audio"]),
        (f"clusterId=={FIRST}", ["vision"]),
        ("createdAt==2026-11-25T12:00:00.123Z", ["vision"]),
        ("createdAt<=2026-11-25T12:00:00.123Z", ["vision", "video"]),
        ("createdAt>=2026-11-25T12:00:00.123Z", ["vision", "Audio"]),
        ("name=^v,size<=2", ["video"]),
    ],
)
def test_a_filter_means_on_rows_what_it_means_in_a_table(text: str, passing: list[str]) -> None:
    assert names(filterBy=[text]) == passing


def test_rows_keep_their_order_unless_another_is_asked_for() -> None:
    assert names() == ["vision", "Audio", "video"]
    assert names(sortBy="createdAt", sortOrder="desc") == ["Audio", "vision", "video"]
    assert names(sortBy="size") == ["video", "vision", "Audio"]


def test_a_short_list_is_complete_unless_a_part_is_requested() -> None:
    assert names(offset=1, limit=1) == ["Audio"]
    assert names(search="AUD") == ["Audio"]
    assert names(search="nothing of it") == []


@pytest.mark.parametrize("asked", [{"filterBy": ["speed==1"]}, {"sortBy": "speed"}])
def test_a_field_that_the_rows_lack_is_refused_with_those_they_have(
    asked: dict[str, object],
) -> None:
    with pytest.raises(ApiError) as refused:
        names(**asked)
    assert (refused.value.code, refused.value.details) == (
        400,
        "Known: clusterId, createdAt, name, size.",
    )
