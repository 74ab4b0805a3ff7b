"""Flags of the seeds are valid, wrong ones are refused; samples are what the contract says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trainer
from tests.trainer.runs import base_env
from trainer.__main__ import main
from trainer.config import parse, remove_span_flags
from trainer.gang.identity import Span


def test_kubeflow_and_osmo_command_lines_are_valid() -> None:
    config, span, _ = parse(
        "mnist",
        "--batch-size 64 --test-batch-size 1000 --epochs 1 --lr 0.01 --momentum 0.5 --no-cuda "
        "--seed 1 --log-interval 10 --save-model --dir logs --backend gloo "
        "--offset 8 --size 8 --world_size 16".split(),
    )
    assert (config.batch_size, config.no_cuda, config.dir) == (64, True, Path("logs"))
    assert span == Span(8, 8, 16)


def test_a_started_rank_gets_the_other_flags_only() -> None:
    flags = ["--offset", "0", "--lr", "0.1", "--size=2", "--no-cuda", "--world_size", "2"]
    assert remove_span_flags(flags) == ["--lr", "0.1", "--no-cuda"]


def test_checkpoints_go_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKPOINT_DIR", "/mnt/checkpoints")
    assert parse("mnist", [])[0].checkpoint_dir == Path("/mnt/checkpoints")
    assert parse("mnist", ["--checkpoint-dir", "here"])[0].checkpoint_dir == Path("here")
    monkeypatch.delenv("CHECKPOINT_DIR")
    assert parse("mnist", [])[0].checkpoint_dir == Path("checkpoints")


@pytest.mark.parametrize(
    "flags",
    [
        ["--batch-size", "0"],
        ["--epochs", "-1"],
        ["--epochs", "many"],
        ["--lr", "0"],
        ["--lr", "nan"],
        ["--momentum", "1"],
        ["--step-delay", "-1"],
        ["--step-delay", "inf"],
        ["--rdzv-timeout", "0"],
        ["--backend", "carrier-pigeon"],
        ["--resume", "maybe"],
        ["--checkpoint-every", "0"],
        ["--epoch", "1"],
        ["surprise"],
    ],
    ids=" ".join,
)
def test_wrong_flags_end_with_the_usage_and_code_2(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mnist", *flags])
    assert ended.value.code == 2
    assert "usage: python -m trainer mnist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "usage"),
        (["cifar"], "usage"),
        (["mnist", "--size", "0"], "UsageError: --size 0"),
    ],
)
def test_wrong_use_ends_with_code_2(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert message in capsys.readouterr().err


def test_a_report_is_one_json_line_with_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    trainer.report(step=3, loss=0.12345678, name="x", bad=float("nan"), none=None)
    line = capsys.readouterr().out
    expected = {"step": 3, "loss": 0.123457, "name": "x", "bad": None, "none": None}
    assert json.loads(line) == expected
    assert line.endswith("}\n")


@pytest.mark.parametrize("step", ["3", None, True])
def test_a_step_is_a_number(step: object) -> None:
    with pytest.raises(TypeError, match="step must be a number"):
        trainer.report(step=step)  # type: ignore[arg-type]  # what the test is about


def test_reporting_needs_no_torch() -> None:
    program = "import sys, trainer; trainer.report(step=1); sys.exit('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=base_env(), cwd=os.sep, capture_output=True, check=True
    )
    assert done.stdout == b'{"step": 1}\n'
