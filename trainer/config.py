"""The flags of a training, read once into a frozen Config."""

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainer.identity import Span


@dataclass(frozen=True)
class Config:
    """Everything that decides how a training goes, apart from who takes part."""

    batch_size: int
    test_batch_size: int
    epochs: int
    lr: float
    momentum: float
    no_cuda: bool
    seed: int
    log_interval: int
    save_model: bool
    dir: Path | None
    backend: str
    data_dir: Path | None
    checkpoint_dir: Path
    checkpoint_every: int
    resume: str
    step_delay: float
    rdzv_timeout: float


def parse(argv: Sequence[str]) -> tuple[Config, Span | None]:
    """The configuration, and the ranks to start here if flags name them.

    Wrong flags end the process with code 2 and the usage, as argparse does.
    """
    flags = vars(_parser().parse_args(argv))
    span = Span.from_flags(flags.pop("offset"), flags.pop("size"), flags.pop("world_size"))
    return Config(**flags), span


def without_span(argv: Sequence[str]) -> list[str]:
    """The same flags for a rank that is told by its environment who it is."""
    return _span_parser().parse_known_args(argv)[1]


def _span_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    span = parser.add_argument_group("ranks to start on this machine")
    span.add_argument("--offset", type=int, help="global rank of the first one (0)")
    span.add_argument("--size", type=int, help="how many (1)")
    span.add_argument("--world_size", type=int, help="ranks in all (offset + size)")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainer mnist",
        description="Train a small network on handwritten digits, on any number of ranks.",
        parents=[_span_parser()],
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_training(parser)
    _add_data(parser)
    _add_checkpoints(parser)
    _add_group(parser)
    return parser


def _add_training(parser: argparse.ArgumentParser) -> None:
    training = parser.add_argument_group("training")
    training.add_argument(
        "--batch-size", type=_count, default=32, help="samples a step, over all ranks together"
    )
    training.add_argument("--test-batch-size", type=_count, default=1000, help="samples at a time")
    training.add_argument("--epochs", type=_count, default=20, help="passes over the data")
    training.add_argument("--lr", type=_positive, default=0.01, help="learning rate")
    training.add_argument("--momentum", type=_share, default=0.9, help="SGD momentum")
    training.add_argument("--seed", type=int, default=1, help="of data order and first weights")
    training.add_argument("--log-interval", type=_count, default=10, help="steps between samples")
    training.add_argument(
        "--step-delay", type=_seconds, default=0.0, help="seconds to wait in each step, for shows"
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("files")
    data.add_argument(
        "--data-dir", type=Path, help="folder of MNIST IDX files; else scikit-learn's digits"
    )
    data.add_argument("--dir", type=Path, help="folder for metrics.jsonl and the saved model")
    data.add_argument("--save-model", action="store_true", help="write mnist_cnn.pt at the end")


def _add_checkpoints(parser: argparse.ArgumentParser) -> None:
    checkpoints = parser.add_argument_group("checkpoints")
    checkpoints.add_argument(
        "--checkpoint-dir",
        type=Path,
        default=Path(os.environ.get("CHECKPOINT_DIR") or "checkpoints"),
        help="written by rank 0; from CHECKPOINT_DIR where set",
    )
    checkpoints.add_argument("--checkpoint-every", type=_count, default=50, help="steps between")
    checkpoints.add_argument(
        "--resume", choices=("auto", "never"), default="auto", help="from the newest good one"
    )


def _add_group(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices and rendezvous")
    group.add_argument("--no-cuda", action="store_true", help="stay on the CPU")
    group.add_argument("--backend", choices=("auto", "gloo", "nccl", "mpi"), default="auto")
    group.add_argument(
        "--rdzv-timeout", type=_positive, default=300.0, help="seconds to wait for every rank"
    )


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds, 0 or more")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value
