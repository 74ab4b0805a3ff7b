"""Whole trainings, in every way that works on this machine without a launcher of a cluster."""

import json
import sys
from pathlib import Path

import pytest
import torch

from tests.trainer.data.idx_files import write_set
from tests.trainer.runs import SHORT, Run, base_env, ended, ranks, trainer


@pytest.mark.extended
def test_three_ranks_learn_the_digits_with_the_defaults(tmp_path: Path) -> None:
    with ranks(tmp_path, 3) as runs:
        assert [run.wait() for run in runs] == [0, 0, 0], runs[0].output
    master, *workers = runs
    losses = list(master.curve("loss").values())
    assert len(losses) > 36
    assert losses[-1] < 0.05 < 2 < losses[0]
    (accuracy,) = master.curve("test_accuracy").values()
    assert accuracy >= 0.95
    assert f"Test accuracy: {accuracy:.4f}" in master.output
    assert set(master.samples[0]) == {"step", "epoch", "loss", "accuracy", "samples_per_second"}
    for rank, worker in enumerate(workers, start=1):
        assert f"Rank {rank} of 3 (local rank 0) by RANK/WORLD_SIZE" in worker.output
        assert f"Rank {rank}: epoch 1 of 20 done" in worker.output
        assert worker.samples == []


@pytest.mark.extended
def test_a_training_by_two_ranks_takes_the_same_path_as_by_one(tmp_path: Path) -> None:
    with trainer(tmp_path, *SHORT, "--checkpoint-dir", "one") as alone:
        assert alone.wait() == 0, alone.output
    with ranks(tmp_path, 2, *SHORT, "--checkpoint-dir", "two") as (master, worker):
        assert (master.wait(), worker.wait()) == (0, 0), master.output
    assert "a single process" in alone.output
    assert alone.curve("loss") == pytest.approx(master.curve("loss"), rel=1e-3)
    assert alone.curve("loss")


@pytest.mark.extended
def test_torchrun_starts_two_ranks(tmp_path: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    argv = [*torchrun, "--nproc-per-node", "2", "-m", "trainer", "mnist", *SHORT]
    with ended([Run.of_program(tmp_path, "torchrun", argv, base_env())]) as (run,):
        assert run.wait() == 0, run.output
    assert "Rank 0 of 2 (local rank 0) by torchrun" in run.output
    assert "Rank 1 of 2 (local rank 1) by torchrun" in run.output
    assert len(run.curve("test_accuracy")) == 1


def test_flags_start_the_ranks_here_and_save_what_was_asked(tmp_path: Path) -> None:
    flags = ("--offset", "0", "--size", "2", "--world_size", "2")
    with trainer(tmp_path, *flags, *SHORT, "--save-model", "--dir", "logs") as run:
        assert run.wait() == 0, run.output
    assert "Starting ranks 0 to 1 of 2 by --offset/--size/--world_size" in run.output
    copy = (tmp_path / "logs/metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in copy] == run.samples
    weights = torch.load(tmp_path / "logs/mnist_cnn.pt", weights_only=True)
    assert weights["0.weight"].shape == (16, 1, 3, 3)


@pytest.mark.extended
def test_more_ranks_than_samples_in_a_batch_is_fine(tmp_path: Path) -> None:
    flags = ("--size", "3", "--epochs", "1", "--batch-size", "2", "--data-dir")
    with trainer(tmp_path, *flags, str(write_set(tmp_path, count=13))) as run:
        assert run.wait() == 0, run.output
    assert list(run.curve("loss")) == [7]
    assert "13 to learn and 13 to test" in run.output


def test_a_rank_that_is_killed_ends_the_other_with_code_12(tmp_path: Path) -> None:
    with ranks(tmp_path, 2, "--step-delay", "0.1", "--log-interval", "1") as (master, worker):
        master.wait_for_step(1)
        worker.process.kill()
        assert master.wait() == 12, master.output
    assert "PeerLost: another rank went away" in master.output


def test_a_loss_that_explodes_ends_with_code_13(tmp_path: Path) -> None:
    with trainer(tmp_path, *SHORT, "--lr", "1e30") as run:
        assert run.wait() == 13, run.output
    assert "try a smaller --lr" in run.output


def test_a_missing_data_set_ends_every_rank_with_code_10(tmp_path: Path) -> None:
    with trainer(tmp_path, "--size", "2", "--data-dir", "nowhere") as run:
        assert run.wait() == 10, run.output
    assert "train-images-idx3-ubyte" in run.output
