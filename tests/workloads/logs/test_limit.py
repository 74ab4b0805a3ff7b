"""A workload keeps so much output and no more: the head of the longest stream is cut."""

import time
import uuid
from pathlib import Path

import pytest
from pytest_django import Settings

from engines.fake import FakeEngine
from tests.disks import needs_holes
from tests.factories import WorkloadFactory
from tests.workloads.logs.parts import merged_parts
from workloads import logs
from workloads.logs import limit, store
from workloads.logs.reading import merge
from workloads.logs.reading.lines import last_line_end, read_backward, read_forward
from workloads.logs.search import Hits
from workloads.models import Workload
from workloads.worker import collect

LINE = 100  # bytes
NOTE = "[Trainyard] "


@pytest.fixture
def stream(tmp_path: Path, settings: Settings) -> logs.Stream:
    settings.LOG_STORE = tmp_path
    needs_holes(tmp_path)
    return logs.Stream(uuid.uuid4(), run=1, attempt=0, rank=0)


def write(stream: logs.Stream, lines: range) -> None:
    """In pieces, each line with its number."""
    for start in range(lines.start, lines.stop, 1000):
        numbers = range(start, min(start + 1000, lines.stop))
        logs.append(stream, b"".join(b"line %d".ljust(LINE + 1) % n + b"\n" for n in numbers))


def texts(stream: logs.Stream) -> list[str]:
    return [line.data.decode().strip() for line in read_forward(stream, 0, unfinished=True)]


def room(stream: logs.Stream) -> int:
    return stream.path.stat().st_blocks * 512


def test_the_head_of_a_stream_is_cut_and_a_line_says_so(stream: logs.Stream) -> None:
    write(stream, range(10_000))
    size = logs.size(stream)
    before = room(stream)
    assert logs.cut_head(stream, size // 4)
    assert logs.size(stream) == size, "places stay as they are"
    assert room(stream) < before // 2
    note, *rest = texts(stream)
    assert note.startswith(f"{NOTE}")
    assert "TRAINYARD_LOG_LIMIT_MB" in note
    assert rest == [f"line {n}" for n in range(10_000 - len(rest), 10_000)]
    assert 2_400 < len(rest) < 2_600


def test_a_cut_stream_reads_the_same_from_everywhere(stream: logs.Stream) -> None:
    write(stream, range(10_000))
    logs.cut_head(stream, logs.size(stream) // 2)
    ahead = list(read_forward(stream, 0, unfinished=True))
    assert list(read_backward(stream, last_line_end(stream, unfinished=True)))[::-1] == ahead
    assert list(merged_parts([stream])) == ahead
    window = merge.window_before([stream], {0: ahead[3].offset})
    assert (window.lines, window.more) == (ahead[:3], False)
    assert merge.window_before([stream], {0: 10}).lines == []
    assert merge.window_after([stream], {0: 10}, limit=3).lines == ahead[:3]


def test_a_search_counts_what_is_left(stream: logs.Stream) -> None:
    write(stream, range(10_000))
    assert counted(stream) == 10_000
    logs.cut_head(stream, logs.size(stream) // 2)
    left = len(texts(stream)) - 1
    assert counted(stream) == left
    hits = Hits([stream], "line", unfinished=True)
    hits.search(60)
    first = hits.step(None)
    last = hits.step(None, "previous")
    assert first
    assert last
    assert (first.number, last.number) == (1, left)


def counted(stream: logs.Stream) -> int:
    hits = Hits([stream], "line", unfinished=True)
    hits.search(60)
    assert hits.is_done
    return hits.count


def test_a_stream_grows_on_after_a_cut_and_is_cut_again(stream: logs.Stream) -> None:
    write(stream, range(5_000))
    assert logs.cut_head(stream, logs.size(stream) // 2)
    write(stream, range(5_000, 10_000))
    assert texts(stream)[-1] == "line 9999"
    assert logs.cut_head(stream, logs.size(stream) // 10)
    notes = [text for text in texts(stream) if text.startswith(NOTE)]
    assert len(notes) == 1, "the older note went with what it stood before"
    assert not logs.cut_head(stream, logs.size(stream)), "there is nothing to cut"


def test_of_several_streams_the_longest_is_cut(stream: logs.Stream, settings: Settings) -> None:
    other = logs.Stream(stream.workload_id, run=1, attempt=0, rank=1)
    write(stream, range(10_000))
    write(other, range(500))
    settings.LOG_LIMIT_BYTES = 600_000
    limit.enforce_limit(stream.workload_id)
    assert sum(logs.stream_lengths(stream.workload_id).values()) <= 600_000
    assert (texts(other)[0], texts(stream)[-1]) == ("line 0", "line 9999")
    assert texts(stream)[0].startswith(NOTE)


@pytest.mark.parametrize("most", [0, 10**9])
def test_output_within_the_limit_stays(stream: logs.Stream, settings: Settings, most: int) -> None:
    write(stream, range(2_000))
    settings.LOG_LIMIT_BYTES = most
    limit.enforce_limit(stream.workload_id)
    assert texts(stream)[0] == "line 0"


def test_output_stays_where_the_file_system_gives_nothing_back(
    stream: logs.Stream,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(stream, range(2_000))
    settings.LOG_LIMIT_BYTES = 1_000
    monkeypatch.setattr(store, "free_head", lambda path, end: False)
    limit.enforce_limit(stream.workload_id)
    assert texts(stream) == [f"line {n}" for n in range(2_000)]
    assert "cannot be cut" in caplog.text


@pytest.mark.django_db
def test_a_workload_over_its_limit_is_measured_to_its_end(
    stream: logs.Stream, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = WorkloadFactory(running=True, attempt=0, pk=stream.workload_id)
    engine = FakeEngine()
    settings.LOG_LIMIT_BYTES = 100_000
    monkeypatch.setattr(limit, "EVERY_SECONDS", -1.0)
    for part in range(3):
        steps = range(part * 5_000, part * 5_000 + 5_000)
        engine.print(workload.handle, 0, "".join(f'{{"step": {n}, "loss": 0.5}}\n' for n in steps))
        collect.collect_workload(engine, Workload.objects.get(), time.monotonic() + 60)
    after = Workload.objects.get()
    assert after.last_metrics == {"step": 14_999, "loss": 0.5}
    assert sum(logs.stream_lengths(workload.pk).values()) <= 100_000
