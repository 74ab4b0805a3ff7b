"""``srun`` for batch scripts on this machine: starts a step of tasks at the hosts of the ranks, and
ends with Slurm's exit code."""

import os
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
from engines.local.batch.job import ScriptJob
from engines.local.batch.options import OptionError, parse_command_line
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
USAGE_CODE = 255
PLACEHOLDER = re.compile(r"%(\d*)([%AaJjNnstux])")
PER_TASK = re.compile(r"%\d*[tnN]")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def complain(text: str) -> None:
    print(f"srun: error: {text}", file=sys.stderr, flush=True)


def run_srun(folder: Path, words: Sequence[str]) -> int:
    """Run a command line of srun. Returns its exit code."""
    job = ScriptJob.read(folder)
    try:
        line = parse_command_line(words)
    except OptionError as error:
        print(f"srun: {error}", file=sys.stderr)
        print('Try "srun --help" for more information', file=sys.stderr)
        return USAGE_CODE
    if "version" in line.options:
        print(VERSION)
        return 0
    if "help" in line.options or "usage" in line.options:
        print("Usage: srun [OPTIONS...] executable [args...]")
        return 0
    if not line.command:
        print("srun: fatal: No command given to execute.", file=sys.stderr)
        return 1
    try:
        step = plan_step(job, line.options, os.environ)
    except StepError as error:
        complain(str(error))
        return 1
    if "quiet" not in line.options:
        for warning in step.warnings:
            print(f"srun: {warning}", file=sys.stderr, flush=True)
    options = inherit_options(line.options, os.environ)
    return StepRun(folder, job, step, options, line.command).run()


@dataclass
class StepRun:
    """A step that runs. ``codes`` has the exit codes of tasks that ended, -N after signal N."""

    folder: Path
    job: ScriptJob
    step: ScriptStep
    options: Mapping[str, str]
    command: list[str]
    number: int = 0
    codes: dict[int, int] = field(default_factory=dict)
    is_killed: bool = False
    connections: list[socket.socket] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    labels: list[threading.Thread] = field(default_factory=list)

    def run(self) -> int:
        """Start the tasks, wait for them, and return the exit code of srun."""
        for number in FORWARDED:
            signal.signal(number, lambda number, _: self._signal_tasks(number))
        # Open until this process ends: then the host of rank 0 knows that the step is over.
        registration = messages.connect(self.folder, 0)
        messages.send(registration, {"kind": host.STEP})
        granted = next(messages.receive_all(registration), {"number": None})["number"]
        if granted is None:
            complain(f"Unable to create step for job {self.job.number}: the job is ending")
            return 1
        self.number = granted
        working_dir = self._working_dir()
        tasks_by_host = self._tasks_by_host()
        try:
            connections = [messages.connect(self.folder, rank) for rank in tasks_by_host]
        except OSError as error:
            complain(f"a rank of job {self.job.number} does not answer: {error.strerror}")
            return 1
        readers = [
            threading.Thread(target=self._run_at_host, args=(connection, tasks, working_dir))
            for connection, tasks in zip(connections, tasks_by_host.values(), strict=True)
        ]
        for thread in readers:
            thread.start()
        self._limit_time()
        for thread in [*readers, *self.labels]:
            while thread.is_alive():
                thread.join(0.2)  # in pieces, so that signals are handled meanwhile
        return _exit_code(self.codes.values())

    def _tasks_by_host(self) -> dict[int, list[messages.Message]]:
        """Return what each host needs to know about its tasks, with their open files."""
        streams = Streams(self)
        by_host: dict[int, list[messages.Message]] = {}
        for task in self.step.tasks:
            message = {
                "number": task.number,
                "variables": task_variables(self.step, task, self.options),
                **streams.of_task(task),
            }
            by_host.setdefault(task.host, []).append(message)
        streams.feed_input()
        return by_host

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
                self.connections.append(connection)
                self._close_own(files)
                if self.is_killed:  # before this host had its tasks
                    messages.send(connection, {"signal": int(signal.SIGTERM)})
                for report in messages.receive_all(connection):
                    left.discard(report["ended"])
                    self._note_end(report)
        except OSError as error:
            complain(f"a rank of job {self.job.number} does not answer: {error.strerror}")
        for task in sorted(left):
            self._note_end({"ended": task, "code": -signal.SIGKILL})

    def _close_own(self, files: Sequence[int]) -> None:
        """Close the ends of pipes that only tasks may hold, so that their readers see the end."""
        for number in files:
            if number > 2:
                with suppress(OSError):
                    os.close(number)

    def _working_dir(self) -> str:
        return str(Path.cwd() / self.options.get("chdir", ""))

    def _variables(self) -> dict[str, str]:
        """Return the variables of all tasks, according to ``--export``."""
        exported = _exported(self.options.get("export", "ALL"), os.environ)
        platform = {name: value for name, value in os.environ.items() if name.startswith("SLURM")}
        values = platform | exported
        for name in ("SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_STDINMODE", "SLURM_LABELIO"):
            values.pop(name, None)
        # Programs would otherwise use every core of the machine, although their task has few.
        values.setdefault("OMP_NUM_THREADS", str(self._cpus_per_task()))
        return values | step_variables(self.job, self.step, self.number, os.environ)

    def _cpus_per_task(self) -> int:
        return max(self.step.cpus_per_task, self.job.cpus_per_task)

    def _note_end(self, report: messages.Message) -> None:
        """Record how a task ended; a failed one ends the step if so wished."""
        task = report["ended"]
        code = report["code"]
        if problem := report.get("problem"):
            complain(f"execve(): {problem}")
        with self.lock:
            self.codes[task] = code
        if not code:
            return
        node = self.step.tasks[task].node.name
        complain(f"{node}: task {task}: {_describe(code)}")
        if _is_true(self.options.get("kill-on-bad-exit")) and not self.is_killed:
            self.is_killed = True
            if len(self.codes) < len(self.step.tasks):
                step = f"{self.job.number}.{self.number}"
                print(f"srun: Terminating StepId={step}", file=sys.stderr, flush=True)
            threading.Thread(target=self._end_tasks, daemon=True).start()

    def _end_tasks(self) -> None:
        """End all tasks: SIGTERM, and SIGKILL after a while."""
        self._signal_tasks(signal.SIGTERM)
        time.sleep(KILL_WAIT)
        self._signal_tasks(signal.SIGKILL)

    def _signal_tasks(self, number: int) -> None:
        for connection in list(self.connections):
            with suppress(OSError):
                messages.send(connection, {"signal": int(number)})

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
        thread = threading.Thread(target=_copy_labeled, args=(reader, target, label))
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
        for line in lines:
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
