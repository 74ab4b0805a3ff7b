"""``srun`` for batch scripts on this machine: starts a step of tasks at the hosts of the ranks, and
ends with Slurm's exit code."""

import os
import queue
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from engines.local.batch import host, messages
from engines.local.batch.hostlist import compress_hostlist
from engines.local.batch.job import ScriptJob
from engines.local.batch.options import OptionError, parse_command_line
from engines.local.batch.room import step_demand
from engines.local.batch.step import (
    ScriptStep,
    StepError,
    Task,
    inherit_options,
    plan_step,
    step_variables,
    task_variables,
)

VERSION = "slurm 22.05 (this machine, by Trainyard)"
KILL_WAIT = 30.0  # Slurm's default, in seconds between SIGTERM and SIGKILL
LONGEST_LINE = 64 * 1024  # bytes behind one label
USAGE_CODE = 255
PLACEHOLDER = re.compile(r"%(\d*)([%AaJjNnstux])")
PER_TASK = re.compile(r"%\d*[tnN]")
FORWARDED = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGALRM)
ABORTING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: Seconds in which tasks that end alike are reported in one line, and before the others are ended.
REPORT_PAUSE = 0.1
BUSY = "Requested nodes are busy"
RETRYING = f"retrying ({BUSY})"
STDERR = 2
INTERRUPT_PAUSE = 1.0  # a second SIGINT within these seconds aborts the step
MOST_TASKS = messages.MOST_FILES // 3  # of one request to a host, because each has three streams


def inform(text: str) -> None:
    """Write a message at once: also a handler of signals may do that, at any moment."""
    with suppress(OSError):
        os.write(STDERR, f"srun: {text}\n".encode(errors="surrogateescape"))


def complain(text: str) -> None:
    inform(f"error: {text}")


def run_srun(folder: Path, words: Sequence[str]) -> int:
    """Run a command line of srun. Returns its exit code."""
    job = ScriptJob.read(folder)
    try:
        line = parse_command_line(words)
    except OptionError as error:
        inform(str(error))
        print('Try "srun --help" for more information', file=sys.stderr)
        return USAGE_CODE
    if "version" in line.options:
        print(VERSION)
        return 0
    if "help" in line.options or "usage" in line.options:
        print("Usage: srun [OPTIONS...] executable [args...]")
        return 0
    if not line.command:
        inform("fatal: No command given to execute.")
        return 1
    is_quiet = "quiet" in line.options
    try:
        steps = _possible_steps(job, line.options)
    except StepError as error:
        _warn(error.warnings, is_quiet=is_quiet)
        complain(str(error))
        return 1
    _warn(steps[0].warnings, is_quiet=is_quiet)
    options = inherit_options(line.options, os.environ)
    return StepRun(folder, job, steps, options, line.command).run()


def _possible_steps(job: ScriptJob, given: Mapping[str, str]) -> list[ScriptStep]:
    """Return the step on the first nodes that it may use, and on those after them."""
    steps = [plan_step(job, given, os.environ)]
    for skipped in range(1, len(job.nodes)):
        with suppress(StepError):
            step = plan_step(job, given, os.environ, skipped)
            if all(step.nodes != other.nodes for other in steps):
                steps.append(step)
    return steps


def _warn(warnings: Iterable[str], *, is_quiet: bool) -> None:
    for warning in () if is_quiet else warnings:
        inform(warning)


@dataclass
class StepRun:
    """A step that runs, one of ``steps``. ``codes`` has the exit codes of tasks that ended, -N
    after signal N.

    A thread follows each host and puts what it reports into ``reports``. The main thread writes the
    messages and handles signals.
    """

    folder: Path
    job: ScriptJob
    steps: list[ScriptStep]
    options: Mapping[str, str]
    command: list[str]
    number: int = 0
    choice: int = 0
    gpus: Mapping[str, Sequence[int]] = field(default_factory=dict)  # of the step, by node
    codes: dict[int, int] = field(default_factory=dict)
    reports: "queue.SimpleQueue[messages.Message]" = field(default_factory=queue.SimpleQueue)
    is_ending: bool = False
    signals: list[signal.Signals] = field(default_factory=list)  # that were sent to all tasks
    connections: list[socket.socket] = field(default_factory=list)
    # Reentrant, because a signal may arrive while the main thread holds it.
    lock: threading.RLock = field(default_factory=threading.RLock)
    labels: list[threading.Thread] = field(default_factory=list)
    interrupted_at: float = -INTERRUPT_PAUSE

    @property
    def step(self) -> ScriptStep:
        return self.steps[self.choice]

    @property
    def step_id(self) -> str:
        return f"StepId={self.job.number}.{self.number}"

    def run(self) -> int:
        """Start the tasks, wait for them, and return the exit code of srun."""
        working_dir = self._working_dir()
        if working_dir is None:
            return 1
        # Open until this process ends: then the host of rank 0 knows that the step is over.
        registration = messages.connect(self.folder, 0)
        if not self._is_granted(registration):
            return 1
        self._handle_signals()
        try:
            requests = self._requests()
        except OSError as error:
            complain(f"Could not open {error.filename}: {error.strerror}")
            return 1
        try:
            connections = [messages.connect(self.folder, rank) for rank, _ in requests]
        except OSError as error:
            complain(f"a rank of job {self.job.number} does not answer: {error.strerror}")
            return 1
        for connection, (_, tasks) in zip(connections, requests, strict=True):
            words = (connection, tasks, working_dir)
            threading.Thread(target=self._run_at_host, args=words, daemon=True).start()
        self._limit_time()
        while len(self.codes) < len(self.step.tasks):
            self._note_ends()
        for thread in self.labels:
            thread.join()
        return _exit_code(self.codes.values())

    def _is_granted(self, registration: socket.socket) -> bool:
        """Ask for the step, and wait until its nodes have room for it unless it is to start at
        once."""
        demands = [step_demand(step, self.options) for step in self.steps]
        waits = "immediate" not in self.options
        messages.send(registration, {"kind": host.STEP, "demands": demands, "waits": waits})
        is_delayed = False
        reason = "the job is ending"
        for answer in messages.receive_all(registration):
            if "is_busy" in answer:
                if not waits:
                    reason = BUSY
                else:
                    is_delayed = True
                    inform(f"Job {self.job.number} step creation temporarily disabled, {RETRYING}")
                continue
            if answer["number"] is None:
                break
            self.number = answer["number"]
            self.choice = answer["choice"]
            self.gpus = answer["gpus"]
            if is_delayed:
                inform(f"Step created for job {self.job.number}")
            return True
        complain(f"Unable to create step for job {self.job.number}: {reason}")
        return False

    def _requests(self) -> list[tuple[int, list[messages.Message]]]:
        """Return the tasks that each host is asked to start, with their open files."""
        streams = Streams(self)
        by_host: dict[int, list[messages.Message]] = {}
        for task in self.step.tasks:
            message = {
                "number": task.number,
                "variables": task_variables(self.step, task, self.options, self.gpus),
                **streams.of_task(task),
            }
            by_host.setdefault(task.host, []).append(message)
        streams.feed_input()
        return [
            (rank, tasks[first : first + MOST_TASKS])
            for rank, tasks in by_host.items()
            for first in range(0, len(tasks), MOST_TASKS)
        ]

    def _run_at_host(
        self, connection: socket.socket, tasks: list[messages.Message], working_dir: str
    ) -> None:
        """Start tasks at a host, and follow them to their ends."""
        files: list[int] = []
        for task in tasks:
            for name in ("stdin", "stdout", "stderr"):
                if isinstance(task[name], int):
                    if task[name] not in files:
                        files.append(task[name])
                    task[name] = files.index(task[name])
        message = {
            "kind": host.TASKS,
            "argv": self.command,
            "folder": working_dir,
            "variables": self._variables(),
            "tasks": tasks,
        }
        left = {task["number"] for task in tasks}
        try:
            with connection:
                messages.send(connection, message, files)
                self._close_own(files)
                with self.lock:
                    self.connections.append(connection)
                    for number in self.signals:  # before this host had its tasks
                        messages.send(connection, {"signal": int(number)})
                for report in messages.receive_all(connection):
                    left.discard(report["ended"])
                    self.reports.put(report)
                with self.lock:
                    self.connections.remove(connection)
        except OSError as error:
            complain(f"a rank of job {self.job.number} does not answer: {error.strerror}")
        for task in sorted(left):
            self.reports.put({"ended": task, "code": -signal.SIGKILL})

    def _close_own(self, files: Sequence[int]) -> None:
        """Close the ends of pipes that only tasks may hold, so that their readers see the end."""
        for number in files:
            if number > 2:
                with suppress(OSError):
                    os.close(number)

    def _working_dir(self) -> str | None:
        try:
            return str(Path.cwd() / self.options.get("chdir", ""))
        except OSError as error:
            complain(f"getcwd failed: {error.strerror}")
            return None

    def _variables(self) -> dict[str, str]:
        """Return the variables of all tasks, according to ``--export``."""
        exported = _exported(self.options.get("export", "ALL"), os.environ)
        platform = {name: value for name, value in os.environ.items() if name.startswith("SLURM")}
        values = platform | exported
        for name in ("SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_STDINMODE", "SLURM_LABELIO"):
            values.pop(name, None)
        # Programs would otherwise use every core of the machine, although their task has few.
        values.setdefault("OMP_NUM_THREADS", str(self._cpus_per_task()))
        return values | step_variables(self.job, self.step, self.number)

    def _cpus_per_task(self) -> int:
        return self.step.cpus_per_task or self.job.cpus_per_task

    def _note_ends(self) -> None:
        """Wait for tasks to end, and report those that failed. With ``--kill-on-bad-exit``, a
        failed one ends the step."""
        failed: dict[tuple[str, str], list[int]] = {}
        deadline: float | None = None
        while len(self.codes) < len(self.step.tasks):
            timeout = None if deadline is None else max(0, deadline - time.monotonic())
            try:
                report = self.reports.get(timeout=timeout)
            except queue.Empty:
                break
            task = report["ended"]
            code = report["code"]
            self.codes[task] = code
            if code:
                node = self.step.tasks[task].node.name
                failed.setdefault((node, _describe(code)), []).append(task)
                deadline = deadline or time.monotonic() + REPORT_PAUSE
        for (node, reason), tasks in failed.items():
            complain(f"{node}: {_name_tasks(tasks)}: {reason}")
        if failed and _is_true(self.options.get("kill-on-bad-exit")) and not self.is_ending:
            inform(f"launch/slurm: _step_signal: Terminating {self.step_id}")
            self._end_tasks()

    def _end_tasks(self) -> None:
        """End all tasks: SIGTERM, and SIGKILL after a while."""
        self.is_ending = True
        self._signal_tasks(signal.SIGTERM)
        self._kill_later(KILL_WAIT)

    def _kill_later(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._signal_tasks, [signal.SIGKILL])
        timer.daemon = True
        timer.start()

    def _signal_tasks(self, number: signal.Signals) -> None:
        with self.lock:
            self.signals.append(number)
            for connection in self.connections:
                with suppress(OSError):
                    messages.send(connection, {"signal": int(number)})

    def _handle_signals(self) -> None:
        """Handle signals as srun does: some are for the tasks, others end the step."""
        for number in FORWARDED:
            signal.signal(number, lambda number, _: self._signal_tasks(signal.Signals(number)))
        for number in ABORTING:
            signal.signal(number, lambda number, _: self._abort(signal.Signals(number)))
        signal.signal(signal.SIGINT, lambda *_: self._interrupt())

    def _interrupt(self) -> None:
        """Say which tasks run; at the second SIGINT pass it on and end the step."""
        before = self.interrupted_at
        self.interrupted_at = time.monotonic()
        if self.interrupted_at - before > INTERRUPT_PAUSE:
            inform("interrupt (one more within 1 sec to abort)")
            running = [task.number for task in self.step.tasks if task.number not in self.codes]
            inform(f"{self.step_id} {_name_tasks(running)}: running")
            return
        inform(f"sending Ctrl-C to {self.step_id}")
        self._signal_tasks(signal.SIGINT)
        self._say_abortion()
        self._kill_later(INTERRUPT_PAUSE)

    def _abort(self, number: signal.Signals) -> None:
        if number is signal.SIGQUIT:
            inform("Quit")
        self._say_abortion()
        self._signal_tasks(signal.SIGKILL)

    def _say_abortion(self) -> None:
        inform("forcing job termination")
        seconds = int(KILL_WAIT) + 2
        inform(f"Job step aborted: Waiting up to {seconds} seconds for job step to finish.")

    def _limit_time(self) -> None:
        """End the step when its own ``--time`` is over."""
        seconds = _parse_minutes(self.options.get("time", ""))
        if seconds:
            timer = threading.Timer(seconds, self._end_tasks)
            timer.daemon = True
            timer.start()


class Streams:
    """Where the tasks of a step read and write.

    As long as srun's own output is the log of the script, each task writes to the log of its rank.
    Otherwise a pipe or a file catches the output, and the tasks write there.
    """

    def __init__(self, run: StepRun) -> None:
        self.run = run
        self.has_labels = _is_true(run.options.get("label"), default="label" in run.options)
        self.files: dict[str, int] = {}
        self.input_pipes: list[int] = []

    def of_task(self, task: Task) -> dict[str, int | str]:
        """Return the three streams of a task: a path, or the number of an open file."""
        output = self._output(task, 1, self.run.options.get("output", ""))
        error_option = self.run.options.get("error", "")
        if not error_option and self.run.options.get("output", "") not in {"", "all"}:
            error: int | str = output
        else:
            error = self._output(task, 2, error_option)
        return {"stdin": self._input(task), "stdout": output, "stderr": error}

    def _output(self, task: Task, stream: int, option: str) -> int | str:
        if option == "none" or (option.isdigit() and int(option) != task.number):
            return os.devnull
        if option and option != "all" and not option.isdigit():
            return self._open(self._path(option, task))
        target: int | str = stream
        if self._is_log(stream):
            target = str(self.run.job.log_of(task.number))
        return self._label(target, task.number) if self.has_labels else target

    def _is_log(self, stream: int) -> bool:
        """Whether this stream still leads to the log of the script."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(stream), self.run.job.log_of(0).stat())
        return False

    def _path(self, pattern: str, task: Task) -> str:
        values = {
            "%": "%",
            "A": str(self.run.job.number),
            "j": str(self.run.job.number),
            "J": f"{self.run.job.number}.{self.run.number}",
            "a": "4294967294",  # no array
            "N": task.node.name,
            "n": str(task.node_number),
            "s": str(self.run.number),
            "t": str(task.number),
            "u": self.run.job.user,
            "x": self.run.job.name,
        }
        return PLACEHOLDER.sub(
            lambda match: values[match[2]].rjust(int(match[1] or 0), "0"), pattern
        )

    def _open(self, path: str) -> int:
        """Return a file number of its own for an output file, which is opened once for all tasks
        that share it."""
        if path not in self.files:
            mode = os.O_APPEND if self.run.options.get("open-mode", "t")[:1] == "a" else os.O_TRUNC
            self.files[path] = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o666)
        return os.dup(self.files[path])

    def _label(self, target: int | str, task: int) -> int:
        """Return a pipe whose lines come to the target with the task's number in front."""
        reader, writer = os.pipe()
        width = len(str(len(self.run.step.tasks) - 1))
        label = f"{task:{width}}: ".encode()
        thread = threading.Thread(target=_copy_labeled, args=(reader, target, label), daemon=True)
        self.run.labels.append(thread)
        thread.start()
        return writer

    def _input(self, task: Task) -> int | str:
        """Return what a task reads. Several tasks each get all of srun's input, as on Slurm."""
        option = self.run.options.get("input", "")
        if option == "none" or (option.isdigit() and int(option) != task.number):
            return os.devnull
        if option and option != "all" and not option.isdigit():
            return os.open(self._path(option, task), os.O_RDONLY)
        if len(self.run.step.tasks) == 1 or option.isdigit():
            return 0
        if _is_devnull(0):
            return os.devnull
        reader, writer = os.pipe()
        self.input_pipes.append(writer)
        return reader

    def feed_input(self) -> None:
        """Copy srun's input to every task that shares it."""
        if self.input_pipes:
            threading.Thread(target=_copy_input, args=(self.input_pipes,), daemon=True).start()


def _is_devnull(number: int) -> bool:
    try:
        return os.path.samestat(os.fstat(number), Path(os.devnull).stat())
    except OSError:  # it is closed
        return True


def _copy_input(pipes: list[int]) -> None:
    while data := os.read(0, 65536):
        for pipe in list(pipes):
            try:
                with open(pipe, "wb", buffering=0, closefd=False) as file:
                    _write_all(file, data)
            except BrokenPipeError:  # this task reads no more
                pipes.remove(pipe)
                os.close(pipe)
    for pipe in pipes:
        os.close(pipe)


def _write_all(file: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _copy_labeled(reader: int, target: int | str, label: bytes) -> None:
    with open(reader, "rb") as lines, _open_target(target) as output:
        while line := lines.readline(LONGEST_LINE):
            output.write(label + line + (b"" if line.endswith(b"\n") else b"\n"))
            output.flush()


def _open_target(target: int | str) -> IO[bytes]:
    return open(target, "wb" if isinstance(target, int) else "ab", closefd=isinstance(target, str))


def _exported(option: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that ``--export`` lets through: ``ALL``, ``NONE``, and names with or
    without a value."""
    items = [item for item in option.split(",") if item]
    names = {item for item in items if "=" not in item}
    values = dict(item.split("=", 1) for item in items if "=" in item)
    if "ALL" in names or (option and not names and not values):
        return dict(environment) | values
    kept = {name: environment[name] for name in names & environment.keys()}
    return kept | values


def _is_true(text: str | None, *, default: bool = True) -> bool:
    """Whether an option is on: ``-K`` alone, or a value that is not 0."""
    if text is None:
        return False
    return default if text == "" else text not in {"0", "no", "false"}


def _name_tasks(tasks: Iterable[int]) -> str:
    """Return tasks as Slurm names them: ``task 3``, or ``tasks 0-2,5``."""
    numbers = sorted(tasks)
    listed = compress_hostlist(map(str, numbers)).strip("[]")
    return f"{'tasks' if len(numbers) > 1 else 'task'} {listed}"


def _describe(code: int) -> str:
    if code > 0:
        return f"Exited with exit code {code}"
    number = -code
    return (signal.strsignal(number) or f"Signal {number}").partition(":")[0]


def _exit_code(codes: Iterable[int]) -> int:
    """Return the highest exit code of the tasks; a signal counts as 128 and its number."""
    return max((code if code >= 0 else 128 - code for code in codes), default=1)


def _parse_minutes(text: str) -> float | None:
    """Return the seconds of a time limit as srun reads it; ``None`` without one."""
    days, dash, rest = text.partition("-")
    parts = (rest if dash else text).split(":")
    if not text or not all(part.isdigit() for part in parts) or (dash and not days.isdigit()):
        return None
    numbers = [int(part) for part in parts]
    if dash:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
        return int(days) * 86400 + hours * 3600 + minutes * 60 + seconds
    if len(numbers) == 3:
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    return numbers[0] * 60 + (numbers[1] if len(numbers) == 2 else 0)
