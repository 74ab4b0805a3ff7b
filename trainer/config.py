"""Flags of the training programs, parsed into a frozen ``Config``."""

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainer import tutorial
from trainer.gang.identity import Span


@dataclass(frozen=True)
class ProgramFlags:
    """The differences between the command lines of the programs.

    ``description`` is shown by ``--help``, ``model_file`` is the name that ``--save-model`` writes,
    ``epochs`` the default of ``--epochs``. ``data_help`` is the help text of ``--data-dir``, and
    empty for a program that reads no files. A program of the tutorial also accepts the flags in
    ``trainer.tutorial``.
    """

    description: str
    model_file: str
    epochs: int
    data_help: str = ""
    is_of_tutorial: bool = False


PROGRAMS = {
    "mnist": ProgramFlags(
        "Train a small network on handwritten digits, on any number of ranks.",
        "mnist_cnn.pt",
        20,
        "folder of MNIST IDX files; else scikit-learn's digits",
    ),
    "cifar10": ProgramFlags(
        "Train a small network on CIFAR-10's pictures, on any number of ranks.",
        "cifar10_cnn.pt",
        10,
        "folder of CIFAR-10's binary files; else scikit-learn's digits are written in that format",
        is_of_tutorial=True,
    ),
    "synthetic": ProgramFlags(
        "Train a small network on random rows, on any number of ranks.",
        "synthetic_mlp.pt",
        10,
        is_of_tutorial=True,
    ),
}


@dataclass(frozen=True)
class Config:
    """All settings of a training. Which ranks take part is in ``Identity``.

    ``batch_size`` counts the samples of a step over all ranks together. ``step_delay`` and
    ``rdzv_timeout`` are in seconds, ``log_interval`` and ``checkpoint_every`` in steps. ``gpu`` is
    the number of a GPU on this machine; without one, the local rank decides.
    """

    program: str
    batch_size: int
    test_batch_size: int
    epochs: int
    lr: float
    momentum: float
    no_cuda: bool
    device: str
    gpu: int | None
    seed: int
    log_interval: int
    save_model: bool
    model_file: str
    dir: Path | None
    backend: str
    data_dir: Path | None
    checkpoint_dir: Path
    checkpoint_every: int
    resume: str
    step_delay: float
    rdzv_timeout: float


def parse(program: str, argv: Sequence[str]) -> tuple[Config, Span | None, dict[str, str]]:
    """Parse the flags of a program.

    Returns the configuration, the ranks to start on this machine if ``--offset``, ``--size`` or
    ``--world_size`` was passed, and the environment variables that the tutorial's flags stand for.
    Like argparse, it prints the usage and exits with code 2 if a flag is wrong.
    """
    parser = _parser(program)
    flags = vars(parser.parse_args(argv))
    span = Span.from_flags(flags.pop("offset"), flags.pop("size"), flags.pop("world_size"))
    try:
        variables = tutorial.take_variables(flags) if PROGRAMS[program].is_of_tutorial else {}
    except ValueError as error:
        parser.error(str(error))
    return Config(program=program, **flags), span, variables


def remove_span_flags(argv: Sequence[str]) -> list[str]:
    """Return ``argv`` without ``--offset``, ``--size`` and ``--world_size``.

    A rank that this process starts gets its number from environment variables instead.
    """
    return _span_parser().parse_known_args(argv)[1]


def _span_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    span = parser.add_argument_group("ranks to start on this machine")
    span.add_argument("--offset", type=int, help="global rank of the first one (0)")
    span.add_argument("--size", type=int, help="how many (1)")
    span.add_argument("--world_size", type=int, help="ranks in all (offset + size)")
    return parser


def _parser(program: str) -> argparse.ArgumentParser:
    program_flags = PROGRAMS[program]
    parser = argparse.ArgumentParser(
        prog=f"python -m trainer {program}",
        description=program_flags.description,
        parents=[_span_parser()],
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_training(parser, program_flags)
    _add_files(parser, program_flags)
    _add_checkpoints(parser)
    _add_group(parser, program_flags)
    return parser


def _add_training(parser: argparse.ArgumentParser, program_flags: ProgramFlags) -> None:
    training = parser.add_argument_group("training")
    training.add_argument(
        "--batch-size",
        type=_parse_count,
        default=32,
        help="samples a step, over all ranks together",
    )
    training.add_argument(
        "--test-batch-size", type=_parse_count, default=1000, help="samples at a time"
    )
    training.add_argument(
        "--epochs", type=_parse_count, default=program_flags.epochs, help="passes over the data"
    )
    training.add_argument("--lr", type=_parse_positive, default=0.01, help="learning rate")
    training.add_argument("--momentum", type=_parse_fraction, default=0.9, help="SGD momentum")
    training.add_argument("--seed", type=int, default=1, help="of data order and first weights")
    training.add_argument(
        "--log-interval", type=_parse_count, default=10, help="steps between samples"
    )
    training.add_argument(
        "--step-delay",
        type=_parse_seconds,
        default=0.0,
        help="seconds to wait in each step, for shows",
    )


def _add_files(parser: argparse.ArgumentParser, program_flags: ProgramFlags) -> None:
    files = parser.add_argument_group("files")
    if program_flags.data_help:
        files.add_argument("--data-dir", type=Path, help=program_flags.data_help)
    files.add_argument("--dir", type=Path, help="folder for metrics.jsonl and the saved model")
    files.add_argument(
        "--save-model", action="store_true", help=f"write {program_flags.model_file} at the end"
    )
    parser.set_defaults(data_dir=None, model_file=program_flags.model_file)


def _add_checkpoints(parser: argparse.ArgumentParser) -> None:
    checkpoints = parser.add_argument_group("checkpoints")
    checkpoints.add_argument(
        "--checkpoint-dir",
        type=Path,
        default=Path(os.environ.get("CHECKPOINT_DIR") or "checkpoints"),
        help="written by rank 0; from CHECKPOINT_DIR where set",
    )
    checkpoints.add_argument(
        "--checkpoint-every", type=_parse_count, default=50, help="steps between"
    )
    checkpoints.add_argument(
        "--resume", choices=("auto", "never"), default="auto", help="from the newest good one"
    )


def _add_group(parser: argparse.ArgumentParser, program_flags: ProgramFlags) -> None:
    group = parser.add_argument_group("devices and rendezvous")
    group.add_argument("--no-cuda", action="store_true", help="stay on the CPU")
    backend = ["--backend", *(["--dist-backend"] if program_flags.is_of_tutorial else [])]
    group.add_argument(*backend, choices=("auto", "gloo", "nccl", "mpi"), default="auto")
    parser.set_defaults(device="auto", gpu=None)
    if program_flags.is_of_tutorial:
        tutorial.add_flags(group)
    group.add_argument(
        "--rdzv-timeout", type=_parse_positive, default=300.0, help="seconds to wait for every rank"
    )


def _parse_count(text: str) -> int:
    """Parse a whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _parse_seconds(text: str) -> float:
    """Parse a finite number of seconds, 0 or more."""
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds, 0 or more")
    return value


def _parse_positive(text: str) -> float:
    """Parse a finite number above 0."""
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def _parse_fraction(text: str) -> float:
    """Parse a number from 0 to below 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value
