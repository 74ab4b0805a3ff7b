"""What addresses say is harmless to a database."""

from uuid import uuid4

import pytest
from django.http import QueryDict

from core.web.query import format_ranges, parse_number, parse_ranges, parse_uuids, search_text


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("042", 42), ("9" * 18, 10**18 - 1)]
    + [(text, None) for text in ("", "²", "-1", "1.0", " 1", "9" * 19, "9" * 5000)],
)
def test_an_address_gives_only_whole_numbers_that_a_database_takes(
    text: str, number: int | None
) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "numbers", "refused"),
    [
        ("0-3,8", [0, 1, 2, 3, 8], []),
        (" 8 , 9 - 99,, 8", [8, 9], []),
        ("", [], []),
        ("3-1, x, -, 9-, 1-2-3, 10", [], ["3-1", "x", "-", "9-", "1-2-3", "10"]),
        ("0-999999999999999999", list(range(10)), []),
    ],
)
def test_ranges_name_numbers_of_those_there_are(
    text: str, numbers: list[int], refused: list[str]
) -> None:
    assert parse_ranges(text, range(10)) == (set(numbers), refused)


def test_numbers_are_written_as_ranges() -> None:
    assert format_ranges([8, 3, 1, 0, 2]) == "0-3,8"
    assert format_ranges([5, 6]) == "5-6"
    assert format_ranges([]) == ""


def test_a_search_text_is_cut() -> None:
    query = QueryDict(mutable=True)
    query["q"] = " ab" + "c" * 300
    assert search_text(query) == "ab" + "c" * 198
    assert search_text(query, "missing") == ""


def test_ids_are_read_among_other_things_of_an_address() -> None:
    first = uuid4()
    second = uuid4()
    assert parse_uuids(["", str(first), "../etc", second.hex]) == [first, second]
