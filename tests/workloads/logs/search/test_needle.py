"""What is looked for in a block of output: as a page shows it, and from afar where that will do."""

import random

import pytest

from workloads.logs.search.needle import Needle
from workloads.logs.text import plain_text

PIECES = [
    *(
        "ab",
        "a",
        "b",
        "m",
        "AMB",
        "M",
        "[m",
        "3",
        ";",
        " ",
        "\n",
        "\n",
        "\t",
        "\r",
        "\r\n",
        "\0",
        "\a",
    ),
    *("\x1b[31m", "\x1b[1;38:5:2m", "\x1b[m", "\x1b[K", "\x1b[2J", "\x1b7", "\x1b", "\x1b["),
    *("\x1b]0;ab\a", "\x1b(B", "Ä"),
]
TEXTS = ["ab", "A", "ba", "bb", "m", "amb", "[m", "3", "b3a", "a;b", "ä", "\x1b7", "aba"]


@pytest.mark.parametrize("seed", range(40))
def test_lines_are_counted_as_a_page_shows_them(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 -- no secret
    some = chance.sample(PIECES, chance.randint(3, len(PIECES)))
    block = "".join(chance.choices(some, k=200)).encode() + b"\n"
    lines = block.split(b"\n")[:-1]
    for text in TEXTS:
        expected = sum(text.lower() in plain_text(line + b"\n").lower() for line in lines)
        needle = Needle(text)
        assert needle.count(block, 0, 0, len(block)) == expected, (seed, text)
        assert sum(1 for _ in needle.matches(block, 0, 0, len(block))) == expected, (seed, text)


def test_capitals_of_a_letter_that_ends_color_codes_are_found() -> None:
    block = b"\x1b[31mOUT OF MEMORY\x1b[0m\n"
    assert Needle("memory").count(block, 0, 0, len(block)) == 1


def test_a_block_of_colors_without_the_text_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    block = b"\x1b[2m12:00:01\x1b[0m \x1b[32mINFO\x1b[0m step 5\n" * 100
    monkeypatch.setattr(
        "workloads.logs.search.needle._shown_text", lambda lines: pytest.fail("read")
    )
    assert Needle("out of memory").count(block, 0, 0, len(block)) == 0


def test_looking_from_afar_is_given_up_where_it_never_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needle = Needle("step 7")
    block = b"\x1b[32mINFO\x1b[0m step 5\n" * 100
    for _ in range(20):
        assert needle.count(block, 0, 0, len(block)) == 0
    assert needle._tried < 20
