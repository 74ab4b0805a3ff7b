"""Runs real trainings as processes of their own, as a launcher would start them."""

import json
import multiprocessing
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 180.0  # seconds; each run here takes under 15 on two idle cores
LAUNCHERS = ("PET_", "TORCHELASTIC_", "SLURM_", "OMPI_", "MASTER_", "LOCAL_")
DEVICES = ""  # that runs see; none, where not a test is about GPUs
SHORT = ("--epochs", "3", "--batch-size", "256", "--lr", "0.05", "--log-interval", "4")
#: Forks trainings from a process that has imported torch, which takes most of a short training's
#: time.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["torch.distributed", "torch._dynamo"]
)  # the second with the first step


class Fork:
    """``python -m trainer`` in a process of its own, with the methods of ``Popen`` that tests
    call."""

    def __init__(self, words: Sequence[str], folder: Path, env: Mapping[str, str], log: Path):
        self.process = FORKS.Process(target=_run_trainer, args=(words, folder, dict(env), log))
        # Torch looks for the number of threads when it is imported: when the first fork is made.
        with mock.patch.dict(os.environ, env, clear=True):
            self.process.start()

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        code = self.process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("trainer", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        self.process.kill()


def _run_trainer(words: Sequence[str], folder: Path, env: Mapping[str, str], log: Path) -> None:
    """Be ``python -m trainer`` from here on."""
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["trainer", *words]
    runpy.run_module("trainer", run_name="__main__", alter_sys=True)


class Run:
    """One process, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, log: Path) -> None:
        self.process = process
        self.log = log

    @classmethod
    def of_program(cls, folder: Path, name: str, argv: list[str], env: Mapping[str, str]) -> "Run":
        """Start a program in a folder."""
        path = folder / f"{name}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                argv, cwd=folder, env=dict(env), stdout=log, stderr=subprocess.STDOUT
            )
        return cls(process, path)

    @classmethod
    def of_trainer(
        cls, folder: Path, name: str, words: Sequence[str], env: Mapping[str, str]
    ) -> "Run":
        """Start ``python -m trainer`` in a folder."""
        path = folder / f"{name}.log"
        path.touch()  # it may be read before the process opens it
        return cls(Fork(words, folder, env, path), path)

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
    with ended([Run.of_trainer(folder, name, ["mnist", *flags], base_env(**env))]) as (run,):
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
    runs = [
        Run.of_trainer(folder, f"{name}-{number}", words, base_env(**task))
        for number, task in enumerate(tasks)
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
