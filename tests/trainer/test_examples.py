"""The small trainings with other frameworks: how they divide the work, without a framework."""

import json

import numpy as np
import pytest

from trainer.examples import digits
from trainer.examples.__main__ import main
from trainer.examples.tensorflow import _rank_and_count
from trainer.examples.xgboost import _flags, _parameters


def test_three_ranks_divide_each_batch_and_meet_no_sample_twice() -> None:
    train, _ = digits.load(seed=1)
    flags = digits.parse_flags("jax", ["--epochs", "1", "--batch-size", "64"])
    shares = [list(digits.batches(train, flags, rank, ranks=3)) for rank in range(3)]
    assert {len(share) for share in shares} == {len(train) // 63}
    assert all(len(batch) == 21 for share in shares for _, batch in share)
    every = np.concatenate([batch.images for share in shares for _, batch in share])
    assert len(np.unique(every, axis=0)) >= len(every) - 5  # a few digits are drawn alike


@pytest.mark.parametrize(
    ("kind", "index", "rank"), [("chief", 0, 0), ("worker", 0, 1), ("worker", 1, 2)]
)
def test_a_rank_of_tensorflow_finds_its_place_after_the_chief(
    kind: str, index: int, rank: int
) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}
    config = json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})
    assert _rank_and_count(config) == (rank, 3)
    assert _rank_and_count("") == (0, 1)


def test_the_flags_of_kubeflows_xgboost_image_mean_the_same() -> None:
    flags = _flags(
        [
            "--job_type=Train",
            '--xgboost_parameter="objective:multi:softprob,num_class:3,eta:0.3"',
            "--n_estimators=10",
            "--model_storage_type=local",
        ]
    )
    given = _parameters(flags)
    assert (given["objective"], given["num_class"], given["eta"]) == ("multi:softprob", "3", "0.3")
    assert flags.n_estimators == 10


def test_an_unknown_example_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mxnet"]) == 2
    assert "{tensorflow,xgboost,jax,mpi,horovod}" in capsys.readouterr().err
