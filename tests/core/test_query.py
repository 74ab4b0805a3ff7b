"""What addresses say is harmless to a database."""

from uuid import uuid4

import pytest
from django.http import QueryDict

from core.query import search_text, uuids, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("042", 42), ("9" * 18, 10**18 - 1)]
    + [(text, None) for text in ("", "²", "-1", "1.0", " 1", "9" * 19, "9" * 5000)],
)
def test_whole_numbers(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_search_texts() -> None:
    query = QueryDict(mutable=True)
    query["q"] = " a\0b" + "c" * 300
    assert search_text(query) == "ab" + "c" * 198
    assert search_text(query, "missing") == ""


def test_ids_among_other_things() -> None:
    first, second = uuid4(), uuid4()
    assert uuids(["", str(first), "../etc", second.hex]) == [first, second]
