"""Compares the trainer's loop with a short DDP script. Both run under torchrun, in turns: on all
GPUs of the machine, or without one on two processes."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from bench.report import Measurement
from config.run.install import ROOT

TURNS = 5
GPUS = torch.cuda.device_count()
RANKS = GPUS or 2
PLACES = f"{GPUS} GPU{'s' * (GPUS > 1)}" if GPUS else f"{RANKS} ranks"
EPOCHS = 30
BATCH_SIZE = 32
SAMPLES = 1438  # scikit-learn's digits, without the fifth that is for testing
FIRST_EPOCH = -(-SAMPLES // BATCH_SIZE)
DRIVERS = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")  # what finds GPUs
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def rows() -> Iterator[Measurement]:
    ours = []
    plain = []
    for _ in range(TURNS):
        plain.append(1 / _plain())
        ours.append(1 / _ours())
    yield Measurement(
        what=f"The trainer's loop on {PLACES}, batches of {BATCH_SIZE}, after the first epoch and "
        "without checkpoints: time of a sample",
        ours=statistics.median(ours) * 1e6,
        unit="µs",
        limit=1 / 0.95,  # it must reach 95 % of the peer's samples per second
        peer=statistics.median(plain) * 1e6,
        peer_name="a 30-line DDP script",
    )


def _ours() -> float:
    """Return samples per second, by the clock of this process, which reads the trainer's lines."""
    flags = ["--epochs", str(EPOCHS), "--batch-size", str(BATCH_SIZE)]
    program = ["trainer", "mnist", *flags, "--checkpoint-every", "1000000"]
    warm: tuple[float, int] | None = None
    for line in _lines(program):
        if not line.startswith("{"):
            continue
        sample = json.loads(line)
        if "loss" in sample and sample["step"] >= FIRST_EPOCH:
            now = time.monotonic()
            step = sample["step"]
            warm = warm or (now, step)
    if not warm:
        raise RuntimeError("the trainer printed no loss after its first epoch")
    return float((step - warm[1]) / FIRST_EPOCH * SAMPLES / (now - warm[0]))


def _plain() -> float:
    """Return samples per second of the peer, which prints them."""
    return float(list(_lines(["bench.plain_ddp", str(EPOCHS), str(BATCH_SIZE)]))[-1])


def _lines(program: list[str]) -> Iterator[str]:
    """Yield the lines of a program under torchrun, as its ranks print them. Raises ``RuntimeError``
    if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(
            [*TORCHRUN, f"--nproc-per-node={RANKS}", "-m", *program],
            cwd=folder,
            env={
                "PATH": str(Path(sys.executable).parent),
                "PYTHONPATH": str(ROOT),
                "OMP_NUM_THREADS": "1",
                **{name: os.environ[name] for name in DRIVERS if name in os.environ},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            yield from process.stdout or ()
        if process.returncode:
            raise RuntimeError(f"{' '.join(program)} ended with code {process.returncode}")
