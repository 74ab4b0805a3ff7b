"""Prepares the Python of the ranks: installs it if that is Trainyard's task, and checks it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

from engines.local.interpreter.choice import LOCK, Build, Interpreter, Origin, requirements
from engines.local.interpreter.downloads import CannotFetch, Downloader, RemoteFile
from engines.local.interpreter.record import write_record
from engines.local.records.journal import is_full
from engines.local.system import nvidia
from engines.preparation import Preparation, PreparationStage

#: An index of torch's builds for the CPU only, of a tenth of the size, and the seconds within which
#: it has to answer.
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CPU_INDEX_SECONDS = 5.0
#: The space that the unpacked packages take, measured with torch 2.13 for CUDA 13: 4.6 GB of 2.9.
UNPACKED = 1.7
LEAST_PYTHON = (3, 11)
REPORT_SECONDS = 0.5  # between two records of a download
SPEED_SECONDS = 5.0  # over which the speed is measured
CHECK_SECONDS = 300.0
CHECK = """\
import json, sys
facts = {"python": list(sys.version_info[:3])}
try:
    import torch
except ImportError as error:
    facts["problem"] = str(error)
else:
    facts["torch"] = torch.__version__
    facts["cuda"] = torch.version.cuda or ""
    facts["gpus"] = torch.cuda.device_count()
print(json.dumps(facts))
"""
PIP_ERROR = re.compile(r"^ERROR: (.+)$", re.MULTILINE)
PASSWORD = re.compile(r"//([^/@'\s]+:[^/@'\s]*)@([^/'\s]+)")
CERTIFICATES = re.compile(r"^(?::env:|global|install)\.cert='([^']+)'$", re.MULTILINE)
OWN_WAY = (
    "Or give the path of a Python that has torch in TRAINYARD_TRAINING_PYTHON, and start Trainyard "
    "again."
)
NETWORK = (
    "Check that this machine reaches the package index: pip's configuration names it, and "
    f"HTTPS_PROXY and SSL_CERT_FILE a proxy and its certificate. {OWN_WAY}"
)


class CannotPrepare(Exception):
    """The Python cannot be used; the message says why, and ``advice`` what to do."""

    def __init__(self, problem: str, advice: str) -> None:
        self.advice = advice
        super().__init__(problem)


def prepare(interpreter: Interpreter) -> Preparation:
    """Prepare the Python, with a record of each step, and return how it ended.

    One process at a time: the caller holds the lock. What an earlier try fetched is used, and what
    it unpacked is not.
    """
    try:
        if interpreter.origin is Origin.INSTALLED and not _is_complete(interpreter):
            _Installation(interpreter).run()
        write_record(interpreter, Preparation(PreparationStage.CHECKING))
        outcome = Preparation(PreparationStage.READY, summary=check(interpreter))
    except CannotPrepare as error:
        outcome = Preparation(PreparationStage.FAILED, problem=str(error), advice=error.advice)
    except OSError as error:
        if not is_full(error):
            raise
        problem = f"The disk of {interpreter.home} is full: {error.strerror}."
        outcome = Preparation(
            PreparationStage.FAILED, problem=problem, advice=f"Free some space. {OWN_WAY}"
        )
    with suppress(OSError):  # without room for this file, the next look begins again
        write_record(interpreter, outcome)
    return outcome


def check(interpreter: Interpreter) -> str:
    """Return in words what the Python has. Raises ``CannotPrepare`` if it cannot run trainings."""
    python = interpreter.python
    advice = f"Install torch there, or choose another Python. {OWN_WAY}"
    try:
        done = subprocess.run(
            [python, "-c", CHECK],
            capture_output=True,
            text=True,
            timeout=CHECK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotPrepare(f"{python} does not start: {error}.", advice) from error
    if done.returncode:
        last_line = done.stderr.strip().rpartition("\n")[2]
        raise CannotPrepare(f"{python} does not run: {last_line}.", advice)
    facts = json.loads(done.stdout.strip().rpartition("\n")[2])
    version = ".".join(map(str, facts["python"]))
    if tuple(facts["python"]) < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        raise CannotPrepare(f"{python} is Python {version}; trainings need {least}.", advice)
    if "problem" in facts:
        raise CannotPrepare(f"{python} cannot import torch: {facts['problem']}.", advice)
    return f"Python {version} with torch {facts['torch']}. {_describe_gpus(facts)}"


def _describe_gpus(facts: dict[str, object]) -> str:
    if facts["gpus"]:
        return f"It sees {facts['gpus']} GPU{'' if facts['gpus'] == 1 else 's'}."
    if not nvidia.devices().gpus:
        return "It sees no GPU, because this machine has none that works."
    if not facts["cuda"]:
        return "It sees no GPU, because its torch is built for the CPU only."
    return f"It sees no GPU: its torch is built for CUDA {facts['cuda']}, see the driver's version."


def _is_complete(interpreter: Interpreter) -> bool:
    return _complete_mark(interpreter).exists()


def _complete_mark(interpreter: Interpreter) -> Path:
    return interpreter.environment / ".ready"


class _Installation:
    """Installs an environment with its own pip, from an index or from a folder of wheels."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.preparation = Preparation(PreparationStage.LISTING)
        self.written = 0.0  # monotonic time of the last record
        self.samples: list[tuple[float, int]] = []  # of bytes fetched, by monotonic time

    def run(self) -> None:
        self._report(Preparation(PreparationStage.LISTING))
        self._create_environment()
        if self.interpreter.wheels:
            folder = str(self.interpreter.wheels)
            self._report(Preparation(PreparationStage.UNPACKING))
            self._install(["--find-links", folder, "-c", str(LOCK), *requirements()])
        else:
            files = self._list_files()
            paths = self._fetch(files)
            self._report(replace(self.preparation, stage=PreparationStage.UNPACKING, speed=0.0))
            self._install(["--no-deps", *map(str, paths)])
        _complete_mark(self.interpreter).touch()  # last: an environment without it is incomplete
        shutil.rmtree(self.interpreter.downloads, ignore_errors=True)

    def _create_environment(self) -> None:
        folder = self.interpreter.environment
        shutil.rmtree(folder, ignore_errors=True)
        # Its pip is for people's own packages. Trainyard's is newer: older ones fetch every file
        # only to list them.
        done = subprocess.run(
            [sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip()
            raise CannotPrepare(f"A virtual environment cannot be created: {said}", OWN_WAY)

    def _list_files(self) -> list[RemoteFile]:
        """Return the files of all packages, as the index names them now."""
        report = json.loads(
            self._pip(
                *("install", "--dry-run", "--ignore-installed", "--report", "-"),
                *("--quiet", "-c", str(LOCK), *self._index_options(), *requirements()),
            )
        )
        return [
            RemoteFile(info["url"], info["archive_info"]["hashes"]["sha256"])
            for info in (package["download_info"] for package in report["install"])
        ]

    def _index_options(self) -> list[str]:
        """Return the options for torch's build: the one for the CPU is newer to pip than the same
        version without a local part."""
        build = self.interpreter.build
        wants_cpu = build is Build.CPU or (build is Build.AUTO and not _has_nvidia_gpu())
        if not sys.platform.startswith("linux") or not wants_cpu:
            return []
        if _answers(f"{CPU_INDEX}/torch/"):
            return ["--extra-index-url", CPU_INDEX]
        if build is Build.CPU:
            problem = f"{CPU_INDEX}, which has torch's build for the CPU, does not answer."
            raise CannotPrepare(problem, f"Set TRAINYARD_TORCH=auto to install any. {NETWORK}")
        return []

    def _fetch(self, files: Sequence[RemoteFile]) -> list[Path]:
        configuration = self._pip("config", "list")
        passwords = {host: password for password, host in PASSWORD.findall(configuration)}
        downloader = Downloader(self.interpreter.downloads, passwords, _certificates(configuration))
        try:
            total = sum(map(downloader.size_of, files))
            done = sum(map(downloader.fetched_bytes, files))
            self._require_space(total, done)
            self._report(Preparation(PreparationStage.FETCHING, done=done, total=total))
            return [downloader.fetch(file, self._advance) for file in files]
        except (CannotFetch, URLError) as error:
            raise CannotPrepare(f"The packages cannot be fetched: {error}.", NETWORK) from error

    def _require_space(self, total: int, done: int) -> None:
        needed = int(total * UNPACKED) + total - done
        free = shutil.disk_usage(self.interpreter.home).free
        if free < needed:
            problem = (
                f"The disk of {self.interpreter.home} has {free / 1e9:.1f} GB free; PyTorch needs "
                f"{needed / 1e9:.1f} GB."
            )
            raise CannotPrepare(problem, f"Free some space. {OWN_WAY}")

    def _advance(self, size: int) -> None:
        """Count fetched bytes; negative if they have to be fetched again."""
        now = time.monotonic()
        done = self.preparation.done + size
        self.samples = [it for it in self.samples if now - it[0] < SPEED_SECONDS]
        self.samples.append((now, done))
        first_time, first_done = self.samples[0]
        elapsed = now - first_time
        speed = max(0.0, (done - first_done) / elapsed) if elapsed else self.preparation.speed
        self.preparation = replace(self.preparation, done=done, speed=speed)
        if now - self.written >= REPORT_SECONDS or done == self.preparation.total:
            self._report(self.preparation)

    def _report(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self.written = time.monotonic()
        write_record(self.interpreter, preparation)

    def _install(self, arguments: Sequence[str]) -> None:
        self._pip("install", "--no-index", "--no-cache-dir", "--quiet", *arguments)

    def _pip(self, *arguments: str) -> str:
        """Run pip in the environment and return its output. Its messages go to the log."""
        target = ["--python", str(self.interpreter.python)]
        command = [sys.executable, "-m", "pip", *target, "--no-input", *arguments]
        environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        with self.interpreter.log.open("a") as log:
            log.write(PASSWORD.sub(r"//****@\2", done.stderr))
        if done.returncode:
            errors = PIP_ERROR.findall(PASSWORD.sub(r"//****@\2", done.stderr))
            said = errors[-1].rstrip(".") if errors else f"exit code {done.returncode}"
            advice = f"The log is {self.interpreter.log}. {NETWORK}"
            raise CannotPrepare(f"pip: {said}.", advice)
        return done.stdout


def _certificates(configuration: str) -> str:
    """Return the file of authorities that pip is told to trust; empty without one."""
    found = CERTIFICATES.search(configuration)
    return found[1] if found else ""


def _has_nvidia_gpu() -> bool:
    devices = nvidia.devices()
    return bool(devices.gpus or devices.findings)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=CPU_INDEX_SECONDS):  # noqa: S310 -- https
            return True
    except OSError:
        return False
