"""Runs real trainings as processes of their own, as a launcher would start them."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 180.0  # seconds; each run here takes under 15 on two idle cores
LAUNCHERS = ("PET_", "TORCHELASTIC_", "SLURM_", "OMPI_", "MASTER_", "LOCAL_")
DEVICES = ""  # that runs see; none, where not a test is about GPUs
SHORT = ("--epochs", "3", "--batch-size", "256", "--lr", "0.05", "--log-interval", "4")


class Run:
    """One process, and what it has printed so far."""

    def __init__(self, folder: Path, name: str, argv: list[str], env: Mapping[str, str]) -> None:
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                argv, cwd=folder, env=dict(env), stdout=log, stderr=subprocess.STDOUT
            )

    @property
    def output(self) -> str:
        return self.log.read_text()

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The complete samples of metrics that it has printed."""
        lines = (line for line in self.output.splitlines(keepends=True) if line.endswith("}\n"))
        return [json.loads(line) for line in lines if line.startswith("{")]

    def curve(self, name: str) -> dict[int, float]:
        """Return the values of one metric, by step."""
        return {each["step"]: each[name] for each in self.samples if name in each}

    def wait(self) -> int:
        """Wait for the end, and return the exit code as a shell counts it."""
        code = self.process.wait(DEADLINE)
        return code if code >= 0 else 128 - code

    def wait_for_step(self, step: int) -> None:
        """Wait until a sample of this step, or a later one, was printed."""

        def reached() -> bool:
            assert self.process.poll() is None, self.output
            return any(each["step"] >= step for each in self.samples)

        wait_for(reached, timeout=DEADLINE, message=f"step {step} in {self.log}")


def base_env(**more: str) -> dict[str, str]:
    """Return this process's environment without variables of launchers, with more of its own."""
    names = ("RANK", "WORLD_SIZE", "CHECKPOINT_DIR", "GLOO_SOCKET_IFNAME")
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(LAUNCHERS) and name not in names
    }
    # One thread each, because threads that wait for each other are very slow on a busy machine.
    fixed = {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": DEVICES, "OMP_NUM_THREADS": "1"}
    return clean | fixed | more


@contextmanager
def trainer(folder: Path, *flags: str, name: str = "run", **env: str) -> Iterator[Run]:
    """Run ``python -m trainer mnist`` in a folder. It is killed at the end of the block."""
    argv = [sys.executable, "-m", "trainer", "mnist", *flags]
    with ended([Run(folder, name, argv, base_env(**env))]) as (run,):
        yield run


@contextmanager
def ranks(folder: Path, count: int, *flags: str, name: str = "rank") -> Iterator[list[Run]]:
    """Run ranks that find each other by RANK and WORLD_SIZE, as Kubeflow's do."""
    job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(count)}
    tasks = [{**job, "RANK": str(rank)} for rank in range(count)]
    with started(folder, tasks, "mnist", *flags, name=name) as runs:
        yield runs


@contextmanager
def started(
    folder: Path, tasks: Sequence[Mapping[str, str]], *words: str, name: str = "rank"
) -> Iterator[list[Run]]:
    """Run ``python -m trainer`` once for each environment."""
    argv = [sys.executable, "-m", "trainer", *words]
    runs = [
        Run(folder, f"{name}-{number}", argv, base_env(**task)) for number, task in enumerate(tasks)
    ]
    with ended(runs):
        yield runs


@contextmanager
def ended(runs: list[Run]) -> Iterator[list[Run]]:
    """Kill and reap the processes at the end of the block."""
    try:
        yield runs
    finally:
        for run in runs:
            if run.process.poll() is None:
                run.process.send_signal(signal.SIGKILL)
            run.process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
