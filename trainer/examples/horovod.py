"""Replaces the program of Run:ai's quickstart for MPI, which trains with Horovod: a training of
this package, one rank on each worker."""

import os
import socket
import sys
import time
from collections.abc import Sequence

from trainer.record.metrics import say

PAUSE = "RUNAI_SLEEP_SECS"  # seconds before the training, as in that image
WORKERS = "RUNAI_MPI_NUM_WORKERS"


def main(argv: Sequence[str]) -> None:
    """Train, or run ``argv`` instead: the image has no entry point, so that arguments replace its
    program."""
    if argv:
        os.execvp(argv[0], list(argv))  # noqa: S606 -- no shell, and the PATH says which
    pause = os.environ.get(PAUSE)
    if pause:
        say(f"Sleeping for {pause} seconds")
        time.sleep(float(pause))
    workers = os.environ.get(WORKERS, "1")
    say(f"Running with {workers} workers")
    words = ["mpirun", "-np", workers, *_meeting_place()]
    words += [sys.executable, "-m", "trainer", "mnist"]
    os.execvp(words[0], words)  # noqa: S606 -- no shell, and the PATH says which


def _meeting_place() -> list[str]:
    """Return the flags of mpirun that tell each rank where rank 0 listens: a free port here, where
    all ranks of the local engine run."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    return ["-x", "MASTER_ADDR=127.0.0.1", "-x", f"MASTER_PORT={port}"]
