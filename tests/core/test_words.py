"""Words made of values."""

import pytest

from core.words import some


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcd"), "a, b, c and others")],
)
def test_some_names_are_said_and_whether_there_are_others(names: list[str], words: str) -> None:
    assert some(names) == words
