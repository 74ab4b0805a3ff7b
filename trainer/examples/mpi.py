"""Estimates π with MPI. This module replaces the program at the end of the command line in
Kubeflow's MPI example."""

import math
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from trainer.record.metrics import report, say

THROWS = 200_000
ROUNDS = 50


def main(argv: Sequence[str]) -> None:
    """Run ``mpirun [flags] PROGRAM`` with this module as the program, or throw darts if mpirun
    started this process."""
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        throw_darts()
        return
    flags = list(argv[1:-1]) if argv else []
    words = ["mpirun", *flags, sys.executable, "-m", "trainer.examples", "mpi"]
    os.execvp(words[0], words)  # noqa: S606 -- no shell, and the PATH says which


def throw_darts() -> None:
    """Throw darts as one rank, and report the estimate of all ranks after each round."""
    mpi: Any = import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    rank = world.Get_rank()
    ranks = world.Get_size()
    say(f"Rank {rank} of {ranks} on {os.environ.get('POD_NAME', 'this host')}")
    random = np.random.default_rng(rank)
    hits = 0
    for step in range(1, ROUNDS + 1):
        darts = random.random((THROWS, 2))
        hits += int((np.square(darts).sum(axis=1) < 1).sum())
        pi = 4 * world.allreduce(hits) / (step * THROWS * ranks)
        if rank == 0:
            report(step=step, pi=pi, error=abs(pi - math.pi))
    if rank == 0:
        say(f"π is about {pi:.5f}")
