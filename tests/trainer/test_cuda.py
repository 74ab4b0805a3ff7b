"""The trainer on a GPU. Without one there is nothing to show."""

import signal
import sys
from pathlib import Path

import pytest
import torch

from tests.trainer.runs import SHORT, Run, base_env, ended, ranks, trainer
from trainer.errors import OutOfMemory
from trainer.gang import group

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here"),
]
FLAGS = (*SHORT, "--epochs", "5", "--checkpoint-every", "7")  # 30 steps, a sample every 4
CURVES = ("loss", "accuracy", "test_loss", "test_accuracy")


@pytest.fixture(autouse=True)
def _one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranks of a test see the first device only."""
    monkeypatch.setattr("tests.trainer.runs.DEVICES", "0")


def test_a_process_trains_on_the_gpu_by_nccl(tmp_path: Path) -> None:
    with trainer(tmp_path, *SHORT) as run:
        assert run.wait() == 0, run.output
    assert "Rank 0: nccl on cuda:0" in run.output
    assert run.curve("test_accuracy")[18] > 0.5


def test_torchrun_trains_on_the_gpu_by_nccl(tmp_path: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    argv = [*torchrun, "--nproc-per-node=1", "-m", "trainer", "mnist", *SHORT]
    with ended([Run.of_program(tmp_path, "torchrun", argv, base_env())]) as (run,):
        assert run.wait() == 0, run.output
    assert "by torchrun" in run.output
    assert "Rank 0: nccl on cuda:0" in run.output


def test_two_ranks_on_one_gpu_take_the_path_of_one_rank(tmp_path: Path) -> None:
    with ranks(tmp_path, 2, *SHORT, name="shared") as (master, worker):
        assert (master.wait(), worker.wait()) == (0, 0), master.output + worker.output
    assert "Rank 0: gloo on cuda:0" in master.output
    assert "Rank 1: gloo on cuda:0" in worker.output
    with trainer(tmp_path, *SHORT, "--resume", "never", name="alone") as alone:
        assert alone.wait() == 0, alone.output
    assert master.curve("loss")[18] == pytest.approx(alone.curve("loss")[18], abs=1e-3)


def test_nccl_for_two_ranks_on_one_gpu_is_refused(tmp_path: Path) -> None:
    with ranks(tmp_path, 2, *SHORT, "--backend", "nccl") as (master, worker):
        assert (master.wait(), worker.wait()) == (2, 2), master.output
    assert "1 GPUs for 2 ranks; use --backend gloo" in master.output


def test_a_stopped_training_ends_with_the_same_loss(tmp_path: Path) -> None:
    with trainer(tmp_path, *FLAGS, "--checkpoint-dir", "whole", name="whole") as whole:
        assert whole.wait() == 0, whole.output
    with trainer(tmp_path, *FLAGS, "--step-delay", "0.1", name="stopped") as stopped:
        stopped.wait_for_step(8)
        stopped.process.send_signal(signal.SIGTERM)
        assert stopped.wait() == 143, stopped.output
    at = stopped.samples[-1]["step"]
    assert at % 10 == 0  # the ballot is read every tenth step
    assert at < 30
    with trainer(tmp_path, *FLAGS, name="resumed") as resumed:
        assert resumed.wait() == 0, resumed.output
    assert f"resumed after step {at} of 30" in resumed.output
    for name in CURVES:
        assert stopped.curve(name) | resumed.curve(name) == whole.curve(name)


def test_a_gpu_without_room_ends_the_training_with_its_own_code() -> None:
    with pytest.raises(OutOfMemory, match="out of memory") as ended_by, group._translate_errors():
        torch.empty(2**50, dtype=torch.uint8, device="cuda:0")
    assert ended_by.value.exit_code == 14
