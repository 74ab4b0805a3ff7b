"""Which lines are samples."""

import json
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from workloads import logs
from workloads.metrics.numbers import Stored, follow_not_finite
from workloads.metrics.parse import parse_line, store_samples
from workloads.models import Attempt, Workload

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
    assert len(parse_line(line)) == 1


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
    assert parse_line(line) == []


BAR = "\r 25%|███       | 3/12 [00:03<00:05,  1.00it/s]".encode()
TWO = [{"step": 3, "loss": 0.5}, {"step": 4, "loss": 0.4}]


@pytest.mark.parametrize(
    ("line", "records"),
    [
        (BAR + b'{"step": 3, "loss": 0.5}', TWO[:1]),
        (BAR.lstrip() + b'{"step": 3, "loss": 0.5}', TWO[:1]),
        (BAR + b"\r" + b" " * 40 + b'\r{"step": 3, "loss": 0.5}', TWO[:1]),
        (b'{"step": 3, "loss": 0.5}' + BAR + b'{"step": 4, "loss": 0.4}', TWO),
        (b'{"step": 3, "loss": 0.5}{"step": 4, "loss": 0.4}', TWO),
        (b'{"step": 3, "loss": 0.5} 40%|####      | 4/10', TWO[:1]),
        (b'Epoch 1:  38%|###   | 97/250 [00:01]{"step": 3, "loss": 0.5}', TWO[:1]),
        (b'\x1b[2K\rloss {x}: 12/20 \x1b[1m{"step": 3, "loss": 0.5}\x1b[0m', TWO[:1]),
        (b'12/20 [=====>....] - ETA: 1s{"step": 3, "loss": 0.5}\r', TWO[:1]),
        (BAR * 2000 + b'{"step": 3, "loss": 0.5}', TWO[:1]),
    ],
)
def test_objects_beside_a_progress_bar_are_samples(line: bytes, records: list[object]) -> None:
    assert parse_line(line) == records


@pytest.mark.parametrize(
    "line",
    [
        b'request {"step": 3} was sent',
        b'{"step": 3} was sent',
        b'[{"step": 3}]',
        b'{"config": {"step": 3}}',
        b'2026/11/29 {"step": 3}',
    ],
)
def test_an_object_within_a_sentence_is_no_sample(line: bytes) -> None:
    assert parse_line(line) == []


@pytest.mark.parametrize(
    ("printed", "stored"),
    [
        (json.dumps(float("nan")), "NaN"),
        (json.dumps(float("inf")), "Infinity"),
        (json.dumps(float("-inf")), "-Infinity"),
        (str(float("nan")), "NaN"),
        (str(float("-inf")), "-Infinity"),
        ("1e999", "Infinity"),
        ("1" + "0" * 400, "Infinity"),
        ("null", None),
        ("0.5", 0.5),
    ],
)
def test_a_number_that_is_not_finite_is_a_value(
    workload: Workload, tmp_path: Path, settings: Settings, printed: str, stored: object
) -> None:
    settings.LOG_STORE = tmp_path
    attempt = Attempt.objects.create(workload=workload, run=1, attempt=0)
    text = f'{{"step": 2, "loss": 0.7, "lr": 1}}\n{{"step": 3, "loss": {printed}}}\n'
    logs.append(logs.Stream(workload.pk, 1, 0, 0), text.encode())
    assert store_samples(workload, attempt, time.monotonic() + 10)
    assert [sample.values["loss"] for sample in workload.samples.order_by("step")] == [0.7, stored]
    workload.refresh_from_db()
    assert workload.last_metrics.get("loss") == stored, "never the old number beside a new step"
    assert workload.last_metrics["step"] == 3
    assert workload.not_finite == ({"loss": 3} if isinstance(stored, str) else {})


def test_a_metric_is_not_finite_since_its_first_such_step() -> None:
    since: dict[str, int] = {}
    values: list[Stored] = [0.5, "NaN", "Infinity", "NaN"]
    for step, value in enumerate(values):
        since = follow_not_finite(since, {"loss": value, "lr": 0.1}, step)
    assert since == {"loss": 1}
    assert follow_not_finite(since, {"lr": 0.1}, 4) == {"loss": 1}
    assert follow_not_finite(since, {"loss": 0.2}, 5) == {}


def test_samples_behind_a_long_bar_are_read_in_pieces(
    workload: Workload, tmp_path: Path, settings: Settings
) -> None:
    settings.LOG_STORE = tmp_path
    attempt = Attempt.objects.create(workload=workload, run=1, attempt=0)
    stream = logs.Stream(workload.pk, 1, 0, 0)
    for step in range(3):
        logs.append(stream, BAR * 6000 + f'{{"step": {step}, "loss": 1}}\n'.encode())
    assert store_samples(workload, attempt, time.monotonic() + 30)
    assert [sample.step for sample in workload.samples.order_by("step")] == [0, 1, 2]
