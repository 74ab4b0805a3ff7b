"""Compares the same training through Trainyard and by torchrun alone, in turns."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.report import Measurement
from config.run.install import ROOT
from tests.product import Trainyard
from tests.rest import Rest

TURNS = 3
RANKS = 3
LONGEST = 300.0


def rows(trainyard: Trainyard) -> Iterator[Measurement]:
    ours = []
    bare = []
    with Rest(trainyard) as rest:
        _through_trainyard(rest, "warm-up")  # fills the disk cache for both
        for turn in range(TURNS):
            bare.append(_by_torchrun())
            ours.append(_through_trainyard(rest, f"turn-{turn}"))
    yield Measurement(
        what="Training on the digits, REST submit to Completed (1 master + 2 workers)",
        ours=statistics.median(ours),
        unit="s",
        limit=1.15,
        peer=statistics.median(bare),
        peer_name="torchrun, 3 processes",
    )


def _through_trainyard(rest: Rest, name: str) -> float:
    started = time.perf_counter()
    workload = rest.submit(name)
    phase = rest.wait(workload, "Completed", "Failed", timeout=LONGEST)
    took = time.perf_counter() - started
    if phase != "Completed":
        raise RuntimeError(f"{name} ended as {phase}: {rest.read(workload)}")
    rest.delete(workload)
    return took


def _by_torchrun() -> float:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        subprocess.run(
            [*torchrun, f"--nproc-per-node={RANKS}", "-m", "trainer", "mnist"],
            cwd=folder,
            env={
                "PATH": str(Path(sys.executable).parent),
                "PYTHONPATH": str(ROOT),
                "OMP_NUM_THREADS": "1",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=True,
        )
        return time.perf_counter() - started
