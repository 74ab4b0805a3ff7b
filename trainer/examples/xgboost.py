"""Boosted trees for Kubeflow's iris example. The ranks divide the flowers, and XGBoost's collective
sums their statistics. Rank 0 runs the tracker where they meet."""

import argparse
import os
import re
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from trainer.record.metrics import report, say

TEST_SHARE = 0.2
SEED = 1
PATIENCE = 300  # seconds within which all ranks must meet
TRIES = 20  # to reach the tracker, each two seconds later than the last
EVALUATED = re.compile(r"(\w+)-\w+:([\d.e+-]+)")


def main(argv: Sequence[str]) -> None:
    """Train on the irises, as the rank that ``RANK`` and ``WORLD_SIZE`` name."""
    flags = _flags(argv)
    xgb: Any = import_module("xgboost")
    rank = int(os.environ.get("RANK", "0"))
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    say(f"Rank {rank} of {ranks}, XGBoost {xgb.__version__}")
    with _connect_ranks(rank, ranks):
        train, test = _load_shares(xgb, rank, ranks)
        booster = xgb.Booster(_parameters(flags), [train, test])
        for step in range(1, flags.n_estimators + 1):
            booster.update(train, step)
            loss, error = _evaluate(booster, train, test, step)
            if rank == 0:
                report(step=step, loss=loss, accuracy=1 - error)
        if rank == 0:
            say(f"Test accuracy: {1 - error:.4f}")
            _save(booster, flags.model_path)


def _flags(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the flags of Kubeflow's image, as far as they make sense here."""
    parser = argparse.ArgumentParser("python -m trainer.examples xgboost")
    parser.add_argument("--job_type", choices=["Train"], default="Train")
    parser.add_argument(
        "--xgboost_parameter",
        default="objective:multi:softprob,num_class:3",
        help="names and values, such as max_depth:3,subsample:0.5",
    )
    parser.add_argument("--n_estimators", type=int, default=100, help="rounds of boosting")
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--model_storage_type", choices=["local"], default="local")
    parser.add_argument("--model_path", help="where rank 0 saves the model (default: checkpoints)")
    flags = parser.parse_args(argv)
    if flags.n_estimators < 1:
        parser.error("--n_estimators must be at least 1")
    return flags


def _parameters(flags: argparse.Namespace) -> dict[str, object]:
    """Return the parameters of the booster, with the two metrics that judge every round."""
    words = flags.xgboost_parameter.strip('"').split(",")
    pairs = (word.strip().partition(":") for word in words)
    chosen = {name: value for name, _, value in pairs if value}
    metrics = {"eval_metric": ["mlogloss", "merror"]}
    return metrics | {"learning_rate": flags.learning_rate, "seed": SEED} | chosen


@contextmanager
def _connect_ranks(rank: int, ranks: int) -> Iterator[None]:
    """Connect to the other ranks while the block runs. A single rank connects to nothing."""
    if ranks == 1:
        yield
        return
    collective: Any = import_module("xgboost.collective")
    tracker_module: Any = import_module("xgboost.tracker")
    host = socket.gethostbyname(os.environ["MASTER_ADDR"])
    port = int(os.environ["MASTER_PORT"])
    tracker = None
    if rank == 0:
        tracker = tracker_module.RabitTracker(
            n_workers=ranks, host_ip=host, port=port, sortby="task", timeout=PATIENCE
        )
        tracker.start()
    # XGBoost warns at each attempt to reach a tracker that does not listen yet.
    warnings.filterwarnings("ignore", module="xgboost.collective")
    # Tasks are sorted by name, so this gives each rank its own number in XGBoost, too.
    with collective.CommunicatorContext(
        dmlc_communicator="rabit",
        dmlc_tracker_uri=host,
        dmlc_tracker_port=port,
        dmlc_task_id=f"{rank:06}",
        dmlc_timeout=PATIENCE,
        dmlc_retry=TRIES,
    ):
        yield
    if tracker:
        tracker.wait_for()


def _load_shares(xgb: Any, rank: int, ranks: int) -> tuple[Any, Any]:
    """Return this rank's share of the flowers for training, and of those for testing."""
    irises = load_iris()
    order = np.random.default_rng(SEED).permutation(len(irises.target))
    test, train = np.split(order, [round(len(order) * TEST_SHARE)])

    def matrix(indices: Any) -> Any:
        return xgb.DMatrix(irises.data[indices], label=irises.target[indices])

    return matrix(train[rank::ranks]), matrix(test[rank::ranks])


def _evaluate(booster: Any, train: Any, test: Any, step: int) -> tuple[float, float]:
    """Return the loss over the training flowers of all ranks, and the share of test flowers that is
    classified wrongly."""
    losses = booster.eval_set([(train, "train"), (test, "test")], step)
    values = [float(value) for _, value in EVALUATED.findall(losses)]
    return values[0], values[3]


def _save(booster: Any, path: str | None) -> None:
    default = Path(os.environ.get("CHECKPOINT_DIR", "checkpoints"), "model.json")
    model_path = Path(path or default)
    model_path.parent.mkdir(parents=True, exist_ok=True)
    booster.save_model(model_path)
    say(f"The model is at {model_path}")
