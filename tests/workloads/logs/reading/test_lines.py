"""Lines of a stream are the same from every position."""

import re
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from workloads import logs
from workloads.logs.reading import lines


@pytest.fixture(autouse=True)
def small(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LOG_STORE = tmp_path
    for name, size in (("GRID", 4), ("LONGEST", 8), ("BLOCK", 16)):
        monkeypatch.setattr(lines, name, size)


@hypothesis_settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pieces=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"x" * 9, b"y" * 20]), max_size=30),
    near=st.integers(0, 300),
)
def test_lines_are_the_same_forward_backward_and_from_any_offset(
    pieces: list[bytes], near: int
) -> None:
    stream = logs.Stream(uuid.uuid4(), 1, 0, 0)
    printed = b"".join(pieces)
    logs.append(stream, printed)
    told = list(lines.read_forward(stream, 0, unfinished=True))
    assert b"".join(line.data for line in told) == printed
    assert max((len(line.data) for line in told), default=0) <= lines.LONGEST
    back = list(lines.read_backward(stream, len(printed)))
    assert back[::-1] == told
    offset = min(near, max(len(printed) - 1, 0))
    for line in told:
        if line.offset <= offset < line.end:
            assert lines.line_start(stream, offset) == line.offset
    later = [line.offset for line in told if line.offset >= offset]
    assert lines.next_line_start(stream, offset) == (later[0] if later else len(printed))
    last = told[-1:] if told and not told[-1].data.endswith(b"\n") else []
    end = lines.last_line_end(stream, unfinished=False)
    assert end == (last[0].offset if last else len(printed))
    assert list(lines.read_forward(stream, 0, unfinished=False)) == [
        line for line in told if line.end <= end
    ]


@hypothesis_settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pieces=st.lists(st.sampled_from([b"a", b"\r", b"\n", b"x" * 9, b"\r" + b"y" * 20]), max_size=30)
)
def test_whole_lines_are_the_last_states_of_what_was_printed(pieces: list[bytes]) -> None:
    stream = logs.Stream(uuid.uuid4(), 1, 0, 0)
    printed = b"".join(pieces)
    logs.append(stream, printed)
    whole = list(lines.read_whole(stream, 0))
    physical = re.findall(rb"[^\n]*\n|[^\n]+$", printed)
    assert [line.data for line in whole] == [lines.last_state(one) for one in physical]
    assert [line.end - line.offset for line in whole] == [len(one) for one in physical]
    back = list(lines.read_whole_backward(stream, len(printed)))
    places = [(line.offset, line.end, line.at) for line in back]
    assert places[::-1] == [(line.offset, line.end, line.at) for line in whole]
    for line in whole:
        assert lines.whole_line_start(stream, line.end - 1) == line.offset


@pytest.mark.parametrize("letter", ["é", "█", "🚂"])
@pytest.mark.parametrize("ahead", range(4))
def test_no_part_shows_half_a_character(letter: str, ahead: int) -> None:
    stream = logs.Stream(uuid.uuid4(), 1, 0, 0)
    text = "a" * ahead + letter * 20
    logs.append(stream, f"{text}\n".encode())
    parts = list(lines.read_forward(stream, 0, unfinished=True))
    assert len(parts) > 3
    shown = [lines.whole_characters(stream, part).decode() for part in parts]
    assert "".join(shown) == f"{text}\n"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"", None),
        (b"one\n", None),
        (b"one\ntwo", b"two"),
        (b"one\n 1%\r 2%\r", b" 2%\r"),
        (b"one\n 1%\r 2%", b" 2%"),
        (b"0123456789abc", b"c"),
    ],
)
def test_the_last_line_is_shown_before_it_is_finished(printed: bytes, shown: bytes | None) -> None:
    stream = logs.Stream(uuid.uuid4(), 1, 0, 0)
    logs.append(stream, printed)
    line = lines.unfinished_line(stream)
    assert (line.data if line else None) == shown
    assert line is None or line.end - line.offset == len(line.data)


def test_of_a_long_bar_only_the_part_with_its_last_state_is_shown() -> None:
    stream = logs.Stream(uuid.uuid4(), 1, 0, 0)
    states = b"".join(b"\r %d%%" % share for share in range(30))
    logs.append(stream, states)

    def read_texts(*, unfinished: bool) -> list[bytes]:
        parts = lines.read_forward(stream, 0, unfinished=unfinished)
        return [
            part.data
            for part in parts
            if not lines.is_overwritten(stream, part, unfinished=unfinished)
        ]

    assert read_texts(unfinished=False) == [], "its last state is the unfinished line"
    assert len(read_texts(unfinished=True)) == 1
    logs.append(stream, b"\ndone\n")
    assert b"".join(read_texts(unfinished=False)) == b" 29%\ndone\n"
