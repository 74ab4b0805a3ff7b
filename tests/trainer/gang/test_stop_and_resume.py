"""A training that was stopped goes on as if it had not been."""

import signal
from pathlib import Path

from tests.trainer.runs import SHORT, ranks, trainer

FLAGS = (*SHORT, "--epochs", "5", "--checkpoint-every", "7")  # 30 steps, a sample every 4


def test_a_signal_to_one_rank_stops_both_without_changing_the_loss(tmp_path: Path) -> None:
    with ranks(tmp_path, 2, *FLAGS, "--checkpoint-dir", "whole", name="whole") as (whole, other):
        assert (whole.wait(), other.wait()) == (0, 0), whole.output

    slow = ("--step-delay", "0.2")
    with ranks(tmp_path, 2, *FLAGS, *slow, name="stopped") as (master, worker):
        master.wait_for_step(8)
        worker.process.send_signal(signal.SIGTERM)
        assert (master.wait(), worker.wait()) == (143, 143), master.output
    stopped = master.samples[-1]
    assert stopped["event"] == "checkpoint"
    at = stopped["step"]
    assert 8 <= at < 30
    assert f"Rank 0: stopped after step {at} by another rank" in master.output
    assert f"Rank 1: stopped after step {at} by SIGTERM" in worker.output

    with ranks(tmp_path, 2, *FLAGS, name="resumed") as (resumed, other):
        assert (resumed.wait(), other.wait()) == (0, 0), resumed.output
    assert resumed.samples[0] == {"step": at, "event": "resumed", "epoch": (at - 1) // 6 + 1}
    assert f"Rank 1: resumed after step {at} of 30" in other.output
    for name in ("loss", "accuracy", "test_loss", "test_accuracy"):
        assert master.curve(name) | resumed.curve(name) == whole.curve(name)


def test_a_complete_training_is_only_tested_again(tmp_path: Path) -> None:
    with trainer(tmp_path, *SHORT, name="first") as first:
        assert first.wait() == 0, first.output
    with trainer(tmp_path, *SHORT, name="again") as again:
        assert again.wait() == 0, again.output
    assert "resumed after step 18 of 18; nothing is left to train" in again.output
    assert again.curve("test_loss") == first.curve("test_loss")
    assert again.curve("loss") == {}


def test_a_checkpoint_of_another_batch_size_is_refused_and_never_starts_anew(
    tmp_path: Path,
) -> None:
    with trainer(tmp_path, *SHORT, "--epochs", "1", name="first") as first:
        assert first.wait() == 0, first.output
    with trainer(tmp_path, *SHORT, "--batch-size", "128", name="other") as other:
        assert other.wait() == 2, other.output
    assert "batch_size 256, this one has 128" in other.output
    with trainer(tmp_path, *SHORT, "--resume", "never", name="anew") as anew:
        assert anew.wait() == 0, anew.output
    assert anew.samples[0]["step"] == 4


def test_a_signal_in_the_rendezvous_ends_it_at_once(tmp_path: Path) -> None:
    with ranks(tmp_path, 2, name="lonely") as (master, worker):
        worker.process.kill()
        master.process.send_signal(signal.SIGTERM)
        assert master.wait() == 143
