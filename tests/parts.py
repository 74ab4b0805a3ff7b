"""Parts of the tests: each is a program of its own, which may run beside others."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import IO

import psutil

from config.run.install import ROOT

TESTS_FAILED = 1  # as of pytest
NOTHING_COLLECTED = 5  # as of pytest
TOO_LONG = 124  # as of timeout(1)
LAST_FAILED = "--last-failed --last-failed-no-failures none"
#: Starts a program whose session gets what all others leave of the processors. Linux may share them
#: among sessions first, whatever the priorities in each.
GIVING_WAY = [
    "sh",
    "-c",
    '[ ! -w /proc/self/autogroup ] || echo 19 >/proc/self/autogroup; exec nice -n 19 "$@"',
    "sh",
]
#: Set by CI. Processes, browsers and clusters share its processors, so a test that fails there runs
#: once more, alone with the others that failed. Mend it all the same.
IS_CI = bool(os.environ.get("CI"))


@dataclass
class Part:
    """A part of the tests, and how it went. ``arguments`` are those of Python.

    It is ended after ``limit`` seconds. A patient part has the lowest priority. ``missing`` says
    why it cannot run here, if it cannot.
    """

    name: str
    arguments: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: float | None = None
    is_patient: bool = False
    missing: str = ""
    code: int = 0
    seconds: float = 0.0
    _process: subprocess.Popen[bytes] | None = None

    def run(self, output: IO[bytes] | None = None) -> None:
        """Run it, in CI a second time if tests of it failed. ``output`` takes what it prints."""
        if self.missing:
            announce(f"{self.name}: DID NOT RUN: {self.missing}", output)
            return
        started = time.monotonic()
        announce(self.name, output)
        self.code = self._run_once("", output)
        if IS_CI and self.code == TESTS_FAILED:
            announce(f"{self.name}: TESTS FAILED. They run once more", output)
            self.code = self._run_once(LAST_FAILED, output)
            if self.code == NOTHING_COLLECTED:
                self.code = TESTS_FAILED
        if self.code == TOO_LONG:
            announce(f"{self.name}: TOOK TOO LONG AND WAS ENDED", output)
        self.seconds = time.monotonic() - started

    @property
    def outcome(self) -> str:
        """How it went, in a word or two."""
        if self.missing:
            return "DID NOT RUN"
        return "FAILED" if self.code not in (0, NOTHING_COLLECTED) else "passed"

    def _run_once(self, options: str, output: IO[bytes] | None) -> int:
        cache = ROOT / ".pytest_cache" / self.name.replace(" ", "-")
        given = os.environ.get("PYTEST_ADDOPTS", "")
        self._process = subprocess.Popen(
            [*(GIVING_WAY if self.is_patient else []), sys.executable, *self.arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **self.environment,
                "PYTEST_ADDOPTS": f"{given} -o cache_dir={cache} {options}",
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=self.is_patient,
        )
        try:
            return self._process.wait(self.limit)
        except subprocess.TimeoutExpired:
            return TOO_LONG
        finally:
            self.end()

    def end(self) -> None:
        """End it and all that it started, if it runs."""
        if self._process is not None:
            end(self._process)


@contextmanager
def beside(*parts: Part) -> Iterator[None]:
    """Run parts, one after the other, beside those of the block. What they print is shown when all
    have ended."""
    is_ending = Event()
    with tempfile.TemporaryFile() as output:

        def run_in_order() -> None:
            for part in parts:
                if not is_ending.is_set():
                    part.run(output)

        thread = Thread(target=run_in_order)
        thread.start()
        try:
            yield
        except BaseException:
            is_ending.set()
            for part in parts:
                part.end()
            raise
        finally:
            thread.join()
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace"))
            sys.stdout.flush()


def run_pytest(*arguments: str) -> int:
    """Run pytest in a process of its own, and return its exit code."""
    # The settings are named, because modules imported here may have put the product's into the
    # environment.
    command = [sys.executable, "-m", "pytest", "--ds=tests.settings", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, unless it has ended. They get time to tidy up."""
    if process.poll() is not None:
        return
    manager = psutil.Process(process.pid)
    family = [*manager.children(recursive=True), manager]
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.terminate()
    _, alive = psutil.wait_procs(family, timeout=60)
    for member in alive:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    process.wait()


def announce(text: str, output: IO[bytes] | None = None) -> None:
    """Print a line that nobody can miss."""
    line = f"\n==== {text}\n\n"
    if output is None:
        sys.stdout.write(line)
        sys.stdout.flush()
    else:
        output.write(line.encode())
        output.flush()


def report(parts: Iterable[Part]) -> int:
    """Print how each part ended and how long it took. Return one exit code for all of them."""
    announce("HOW LONG IT TOOK")
    for part in parts:
        minutes, seconds = divmod(round(part.seconds), 60)
        print(f"{minutes:3}:{seconds:02}  {part.name}: {part.outcome}")
    return exit_code(part.code for part in parts)


def exit_code(codes: Iterable[int]) -> int:
    """Return one exit code for several parts: the first that is not 0, and negative if a signal
    ended that part.

    A part that collected nothing only counts if all parts did.
    """
    counted = [code for code in codes if code != NOTHING_COLLECTED]
    return next(filter(None, counted), 0) if counted else NOTHING_COLLECTED
