"""What no text may hold, and how large JSON may be."""

import pytest

from core.text import DEEPEST, LONGEST, UnfitJson, parse_json, replace_unfit_characters, text_fault

UNFIT = [
    (b'{"a": "x\\u0000"}', "a", "NUL"),
    (b'{"a": ["\\ud800"]}', "a.0", "lone surrogate"),
    (b'{"a\\u0000": 1}', "", "a name that contains a NUL"),
    (b'{"a": 1e400}', "a", "too large a number"),
    (b'{"a": 9223372036854775808}', "a", "too large a number"),
    (b'{"a": NaN}', "", "NaN is not a number"),
    (b"{", "", "is not JSON"),
    (b"\xff", "", "is not JSON"),
    (b"[" * 100_000, "", "nests deeper"),
    (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "0.0.0", "nests deeper"),
    (b"[" + b"1," * 1000 + b"1]", "", "more than 1,000 items"),
    (b'"' + b"a" * (LONGEST + 1) + b'"', "", "is longer than"),
]


@pytest.mark.parametrize(("data", "field", "words"), UNFIT, ids=[it[2] for it in UNFIT])
def test_json_that_nothing_could_hold_is_refused_by_its_place(
    data: bytes, field: str, words: str
) -> None:
    with pytest.raises(UnfitJson, match=words) as refused:
        parse_json(data)
    assert ".".join(map(str, refused.value.faults[0][0])) == field


def test_everything_that_is_unfit_in_json_is_told() -> None:
    with pytest.raises(UnfitJson) as refused:
        parse_json('{"a": "\\u0000", "b": {"c": "\\ud800"}}')
    assert {path for path, _ in refused.value.faults} == {("a",), ("b", "c")}


def test_usual_json_is_read() -> None:
    assert parse_json(b'{"a": ["\xc3\xa9", 1, 1.5, null, true]}') == {
        "a": ["é", 1, 1.5, None, True]
    }


def test_a_broken_text_is_kept_without_characters_that_databases_refuse() -> None:
    assert replace_unfit_characters("a\0b\ud800c") == "a\ufffdb\ufffdc"
    assert not text_fault(replace_unfit_characters("\0\udfff"))
