"""Keeps the programs running: starts them in order, restarts them after a crash, stops them."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

from config.run.console import say
from config.run.home import Home
from config.run.programs.logs import LogFile
from config.run.programs.table import Program

TICK = 0.2  # seconds between two checks of the programs
READY_WITHIN = 30.0  # seconds a program may take until it is ready
# seconds before a crashed program starts again
FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
CALM_AFTER = 60.0  # seconds of running after which the delay starts over


class NotReady(Exception):
    """A program did not come up; the message says where to look."""


class RunningProgram:
    """One program and the process that runs it now."""

    def __init__(self, program: Program, folder: Path, environment: dict[str, str]) -> None:
        self.program = program
        self.environment = environment
        self.log = LogFile(folder / f"{program.name}.log")
        self.delay = FIRST_DELAY
        self.start_at: float | None = None  # monotonic time of the next start; None while it runs
        self.start()

    def start(self) -> None:
        with self.log.open_output() as output:
            # A session of its own: Ctrl-C in the terminal reaches only the manager, which stops the
            # programs in order. Output goes to a file because a pipe would break if the manager
            # died.
            self.process = subprocess.Popen(
                self.program.argv,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.handle = psutil.Process(self.process.pid)
        self.started = time.monotonic()
        self.start_at = None

    def restart_if_ended(self) -> bool:
        """Restart the program if it has ended, after a growing delay, and return whether a new
        process was started."""
        now = time.monotonic()
        if self.start_at is not None:
            if now < self.start_at:
                return False
            self.start()
            return True
        code = self.process.poll()
        if code is not None:
            if now - self.started > CALM_AFTER:
                self.delay = FIRST_DELAY
            say(f"{self.program.name} {describe_exit(code)}; starting it again in {self.delay:g} s")
            if self.delay > FIRST_DELAY and self.program.advice:
                say(self.program.advice)
            self.start_at = now + self.delay
            self.delay = min(self.delay * 2, LONGEST_DELAY)
        return False

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not self.program.is_ready():
            ended = self.process.poll()
            if ended is not None or time.monotonic() > deadline:
                what = describe_exit(ended) if ended is not None else "did not answer in time"
                raise NotReady(
                    f"{self.program.name} {what}. Its log, {self.log.path}, ends with:\n"
                    f"{self.log.tail()}\n{self.program.advice}".rstrip()
                )
            time.sleep(TICK / 4)

    def stop(self) -> None:
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(self.program.patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Manager:
    """The programs of one data folder, in the order in which they start."""

    def __init__(self, home: Home, url: str, environment: dict[str, str]) -> None:
        self.home = home
        self.url = url
        self.environment = environment
        self.running: list[RunningProgram] = []
        self.stopping = threading.Event()
        self.unrecorded = False  # the list of processes could not be saved yet

    def catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stopping.set()

    def start(self, programs: Sequence[Program]) -> None:
        for program in programs:
            if self.stopping.is_set():
                return
            running = RunningProgram(program, self.home.run, self.environment)
            self.running.append(running)
            self._record()
            running.wait_until_ready()

    def watch(self, until: Callable[[], bool] = lambda: False) -> None:
        """Restart programs that end and print errors from their logs, until ``until()`` is true or
        a signal comes."""
        while not self.stopping.wait(TICK) and not until():
            started = [running.restart_if_ended() for running in self.running]
            if any(started) or self.unrecorded:
                self._record()
            for running in self.running:
                for line in running.log.new_errors():
                    say(f"[{running.program.name}] {line}")
                running.log.rotate()

    def stop(self) -> None:
        """Stop the programs: those that request work before those that do it, and the
        broker last."""
        order = {"web": 0, "worker": 1, "beat": 2, "valkey": 3}
        for running in sorted(self.running, key=lambda one: order[one.program.name]):
            running.stop()
        self.running.clear()
        with suppress(OSError):
            self.home.record_path.unlink(missing_ok=True)

    def _record(self) -> None:
        """Save the list of processes. A full disk is no reason to stop them: it is reported once,
        and the list is saved later."""
        try:
            self.home.write(self.url, {one.program.name: one.handle for one in self.running})
            self.unrecorded = False
        except OSError as error:
            if not self.unrecorded:
                say(f"The list of processes cannot be saved: {error}")
            self.unrecorded = True


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was killed by {signal.Signals(-code).name}"
