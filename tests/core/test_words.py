"""Words made of values."""

import pytest

from core.templatetags.core import breakable
from core.words import some


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcd"), "a, b, c and others")],
)
def test_some_names_are_said_and_whether_there_are_others(names: list[str], words: str) -> None:
    assert some(names) == words


def test_a_heading_may_break_after_its_slash_and_stays_text() -> None:
    assert breakable("Running/requested pods") == "Running/<wbr>requested pods"
    assert breakable("<b>") == "&lt;b&gt;"
