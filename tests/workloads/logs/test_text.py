"""Output as a page shows it: colours as classes, nothing else of what a terminal understands."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.run.install import ROOT
from workloads.logs.text import mark_pattern, plain_text, render_markup

READABLE = 4.5  # contrast, WCAG 2.2 AA
THEMES = {"light": r"\.log-view", "dark": r'\[data-bs-theme="dark"\] \.log-view'}


def html(text: str, mark: str = "") -> str:
    return str(render_markup(text.encode(), mark_pattern(mark)))


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("plain & simple", "plain &amp; simple"),
        ("\x1b[31mred\x1b[0m.", '<span class="sgr-fg-1">red</span>.'),
        ("\x1b[1;4;92mok", '<span class="sgr-bold sgr-underline sgr-fg-10">ok</span>'),
        ("\x1b[1mb\x1b[22mn", '<span class="sgr-bold">b</span>n'),
        (
            "\x1b[33;44mw\x1b[39mx\x1b[49my",
            '<span class="sgr-bg-4 sgr-fg-3">w</span><span class="sgr-bg-4">x</span>y',
        ),
        ("\x1b[38;5;196mr", '<span class="sgr-fg-9">r</span>'),
        ("\x1b[48;2;0;0;0mk", '<span class="sgr-bg-0">k</span>'),
        ("\x1b[38:2::0:255:0mg", '<span class="sgr-fg-10">g</span>'),
        ("\x1b[4:3mcurly", '<span class="sgr-underline">curly</span>'),
        ("\x1b[38;5;999mx\x1b[38mx\x1b[99999999999999999999mx\x1b[;;mx\x1b[38;5m", "xxxx"),
        ("\x1b[7minverse\x1b[27m", '<span class="sgr-inverse">inverse</span>'),
        ("\x1b[8mhidden", "hidden"),
    ],
)
def test_colours_and_weights_become_classes(printed: str, expected: str) -> None:
    assert html(printed) == expected


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(B\x1b[mafter tput", "after tput"),
        ("\x1bP1$r0m\x1b\\device", "device"),
        ("\x1b[2K\x1b[1Gline", "line"),
        ("\x1b7saved\x1b8", "saved"),
        ("a\0b\x08\x7fc\td", "abc\td"),
        ("\x1b]unterminated", "unterminated"),
        (" 10%\r 50%\r100%\r\n", "100%"),
        ("\x1b[32m 10%\r100%\r\r\n", '<span class="sgr-fg-2">100%</span>'),
        ("<script>alert(1)</script>\u202e", "&lt;script&gt;alert(1)&lt;/script&gt;\u202e"),
    ],
)
def test_whatever_else_a_terminal_understands_is_left_out(printed: str, expected: str) -> None:
    assert html(printed) == expected


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert render_markup(b"\xff\xfe\xed\xa0\x80 \xc3\xa9\n") == "\ufffd\ufffd\ufffd\ufffd\ufffd é"


def test_a_mark_crosses_colours_and_ignores_case() -> None:
    assert html("an \x1b[31mERR\x1b[0mOR: <x>", "error: <") == (
        'an <span class="sgr-fg-1"><mark>ERR</mark></span><mark>OR: &lt;</mark>x&gt;'
    )
    assert html("é É e", "É") == "<mark>é</mark> <mark>É</mark> e"
    assert html("nothing", "") == "nothing"


@given(
    pieces=st.lists(
        st.sampled_from(["a", "B", " ", "\r", "\0", "\x1b[31m", "\x1b[0m", "\x1b]0;t\x07", "<&é"]),
        max_size=20,
    ),
    mark=st.sampled_from(["", "a", "ab", "b <", "é"]),
)
def test_the_html_holds_exactly_the_text_that_is_shown(pieces: list[str], mark: str) -> None:
    printed = "".join(pieces).encode()
    tags = re.compile(r'</?mark>|<span class="[\w -]*">|</span>')
    assert unescape(tags.sub("", render_markup(printed, mark_pattern(mark)))) == plain_text(printed)


@pytest.mark.parametrize("theme", THEMES)
def test_each_colour_is_readable_on_each_background(theme: str) -> None:
    css = (ROOT / "static/css/workload.css").read_text()
    rules = re.findall(rf"^{THEMES[theme]} \{{ (--sgr.*) \}}", css, re.MULTILINE)
    colours = dict(re.findall(r"--sgr-([\w-]+): (#\w{6})", " ".join(rules)))
    page = (ROOT / "static/css/trainyard.css").read_text().split(f'"{theme}"]')[1].split("}")[0]
    grounds = re.findall(r"--ty-(?:sunken|hover): (#\w{6})", page)
    grounds += [colour for name, colour in colours.items() if name.startswith("on-")]
    assert len(grounds) == 10
    assert len(colours) == 16
    for number in range(8):
        assert min(contrast(colours[str(number)], ground) for ground in grounds) >= READABLE


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
