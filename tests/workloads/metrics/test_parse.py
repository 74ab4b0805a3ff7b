"""Which lines are samples."""

import pytest

from workloads.metrics.parse import parse_line

DEEP = b'{"step": ' + b"[" * 15_000


@pytest.mark.parametrize(
    "line",
    [
        b'{"step": 1, "loss": 0.5}',
        b'  {"step": 1.0, "loss": 0.5}  \r',
        b'{"step": 0}',
        b'{"step": 3, "event": "checkpoint"}',
        b'{"step": 3, "nested": {"a": 1}, "text": "x"}',
    ],
)
def test_a_json_object_with_a_step_is_a_sample(line: bytes) -> None:
    assert parse_line(line) is not None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"loss 0.5",
        b'step {"step": 1}',
        b'{"step": "1"}',
        b'{"step": true}',
        b'{"step": null}',
        b'{"step": NaN}',
        b'{"step": Infinity}',
        b'{"step": 1e400}',
        b'{"step": 99999999999999999999}',
        b'{"loss": 1}',
        b"[1]",
        b"{not json}",
        b'{"step": 1',
        b'{"step": 1, "x": "' + b"y" * 20_000 + b'"}',
        b'{"step": ' + b"9" * 5_000 + b"}",
        b"\xff\xfe{",
        b'{"step": 1, "\xff": 2}',
        DEEP,
    ],
)
def test_a_line_that_is_no_sample_of_metrics_is_a_log_line(line: bytes) -> None:
    assert parse_line(line) is None
