"""Lines of a stream are the same from every position."""

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
