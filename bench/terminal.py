"""Compares the command line with a program that only loads the library it speaks HTTP with."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bench.report import Measurement
from config.run.install import ROOT

ROUNDS = 10
OURS = [sys.executable, "-m", "trainyard_cli"]
PEER = [sys.executable, "-c", "import httpx"]


class Signing(Protocol):
    """A running Trainyard: its address, its folder, and who signs in."""

    @property
    def url(self) -> str: ...
    @property
    def home(self) -> Path: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> str: ...


def rows(trainyard: Signing) -> Iterator[Measurement]:
    """Yield the shortest of several rounds, taken in turns, because the machine may have other
    work."""
    environment = os.environ | {
        "TRAINYARD_CONFIG": str(trainyard.home / "terminal.json"),
        "TRAINYARD_PASSWORD": trainyard.password,
    }
    _seconds([*OURS, "login", "--server", trainyard.url, "-u", trainyard.username], environment)
    times = [
        (_seconds([*OURS, "list", "jobs"], environment), _seconds(PEER, environment))
        for _ in range(ROUNDS)
    ]
    ours, peer = (min(column) for column in zip(*times, strict=True))
    yield Measurement(
        what="trainyard list jobs, the whole process, least of 10",
        ours=ours * 1000,
        unit="ms",
        limit=4.0,
        peer=peer * 1000,
        peer_name="python -c 'import httpx'",
    )


def _seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began
