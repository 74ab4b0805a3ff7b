"""The host of a rank: starts the tasks that ``srun`` asks for, and at rank 0 the batch script.

It is the first process of its rank, so the rank's limits, volumes and marks hold for all that it
starts. The host of rank 0 keeps a connection to each other one, which ends with it.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from engines.local.batch import messages
from engines.local.batch.job import ScriptJob
from engines.local.batch.messages import Message
from engines.local.batch.room import Demand, StepGrant, StepRoom
from engines.local.batch.signals import parse_warning

HOST = "host"  # its name as a program
SCRIPT = "script"
ARGUMENTS = "arguments"  # each with a NUL at its end
#: Kinds of messages: a program asks for a step with one of several demands, for tasks, or for a
#: signal; the host of rank 0 says that its script runs as long as the connection is open, over
#: which it sends signals for the tasks.
STEP = "step"
TASKS = "tasks"
SIGNAL = "signal"
RUNS = "runs"
RETRY = 0.5  # seconds
ELSEWHERE = "/tmp"  # noqa: S108 -- where Slurm starts a task whose folder is missing
ABSENT = 2  # exit code of a task whose program is missing, as on Slurm


@dataclass
class RunningTask:
    """A process of a task, in a process group of its own."""

    number: int
    process: "subprocess.Popen[bytes]"


@dataclass
class Host:
    """What the host of a rank knows. ``exit_code`` is the worst of the last step's tasks here."""

    folder: Path
    rank: int
    job: ScriptJob
    tasks: list[RunningTask] = field(default_factory=list)
    steps: int = 0  # that run now; only the host of rank 0 counts them
    next_step: int = 0
    script: "subprocess.Popen[bytes] | None" = None
    is_ending: bool = False  # somebody asked for the end
    exit_code: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    changed: threading.Condition = field(init=False)  # of the same lock: a step has ended
    room: StepRoom = field(init=False)
    script_ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.changed = threading.Condition(self.lock)
        self.room = StepRoom(self.job)

    def serve(self) -> int:
        """Serve until the script has ended. Returns the exit code of this process."""
        working_dir = Path.cwd()
        os.chdir(self.folder)
        listener = messages.listen(self.rank)
        os.chdir(working_dir)
        signal.signal(signal.SIGTERM, self._pass_on)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        if self.rank == 0:
            return self._run_script()
        self.script_ended.wait()
        self._kill_tasks()
        return self.exit_code

    def _run_script(self) -> int:
        """Run the script once all hosts listen. Steps that still run when it ends are ended, as by
        Slurm."""
        connections = [messages.connect(self.folder, rank) for rank in range(1, self.job.tasks)]
        for connection in connections:
            messages.send(connection, {"kind": RUNS})
        path = self.folder / SCRIPT
        arguments = (self.folder / ARGUMENTS).read_bytes().split(b"\0")[:-1]
        try:
            # A group of its own: a signal to the script also reaches what it waits for.
            self.script = subprocess.Popen(
                [os.fsencode(path), *arguments], stdin=subprocess.DEVNULL, process_group=0
            )
        except OSError as error:
            sys.exit(f"The batch script could not be started: {error.strerror}")
        self._warn_before_end(connections)
        code = self.script.wait()
        # Its sruns first, so that none reports the tasks that end with the job.
        _signal_group(self.script, signal.SIGKILL)
        self._kill_tasks()
        return code if code >= 0 else 128 - code

    def _warn_before_end(self, connections: list[socket.socket]) -> None:
        """Send the signal of the script's ``--signal`` when the time limit is near."""
        warning = parse_warning(self.job.options.get("signal", ""))
        if warning is None or self.job.seconds_left is None:
            return
        message = {"signal": int(warning.number), "to_script": warning.to_script}

        def warn() -> None:
            self._signal(message)
            for connection in () if warning.to_script else connections:
                with suppress(OSError):  # this rank has ended
                    messages.send(connection, message)

        timer = threading.Timer(max(0.0, self.job.seconds_left - warning.seconds), warn)
        timer.daemon = True
        timer.start()

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        """Pass a request to end on to the tasks. Without any step it is for the script: as on
        Slurm, a script that waits for srun goes on when the step has ended."""
        with self.lock:
            self.is_ending = True
            self._signal_running(self.tasks, signal.Signals(number))
            if self.script and not self.steps:
                _signal_group(self.script, signal.Signals(number))

    def _kill_tasks(self) -> None:
        self._signal_running(self.tasks, signal.SIGKILL)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):
            message, files, rest = messages.receive_first(connection)
            if message is None:
                return
            if message["kind"] == STEP:
                self._hold_step(connection, message, rest)
            elif message["kind"] == SIGNAL:
                self._signal(message)
            elif message["kind"] == TASKS:
                self._run_tasks(connection, message, files, rest)
            else:
                for signal_message in messages.receive_all(connection, rest):
                    self._signal(signal_message)
                self.script_ended.set()

    def _hold_step(self, connection: socket.socket, message: Message, rest: bytes) -> None:
        """Give a step its number once there is room for one of its demands. It counts as running
        as long as its srun keeps the connection. Once the end was asked for, no step begins."""
        demands: list[Demand] = [
            {name: (cpus, gpus) for name, (cpus, gpus) in demand.items()}
            for demand in message["demands"]
        ]
        with self.changed:
            grant = self._choose(demands)
            if grant is None and not self.is_ending:
                messages.send(connection, {"is_busy": True})
                if not message["waits"]:
                    return
                while grant is None and not self.is_ending:
                    # With a timeout, because a handler of signals cannot wake it up for sure.
                    self.changed.wait(RETRY)
                    grant = self._choose(demands)
            number = self.next_step
            if grant is not None:
                self.next_step += 1
                self.steps += 1
        if grant is None:
            messages.send(connection, {"number": None})
            return
        try:
            answer = {"number": number, "choice": grant.choice, "gpus": grant.gpus}
            messages.send(connection, answer)
            _wait_for_end(connection, rest)
        finally:
            with self.changed:
                self.steps -= 1
                self.room.give_back(grant)
                self.changed.notify_all()

    def _choose(self, demands: list[Demand]) -> StepGrant | None:
        return None if self.is_ending else self.room.choose(demands)

    def _signal(self, message: Message) -> None:
        """Send a signal to all tasks here, or to the script alone, without its children, as
        ``scancel --batch`` does."""
        number = signal.Signals(message["signal"])
        with self.lock:
            if not message["to_script"]:
                self._signal_running(self.tasks, number)
            elif self.script:
                self.script.send_signal(number)

    def _run_tasks(
        self, connection: socket.socket, message: Message, files: list[int], rest: bytes
    ) -> None:
        """Start the tasks of a step and report their ends. If srun ends before, they are killed."""
        started: list[RunningTask] = []
        try:
            with self.lock:
                self.exit_code = 0
                for task in message["tasks"]:
                    started += self._start_task(connection, message, task, files)
                self.tasks += started
                if self.is_ending:  # the request to end came before these tasks
                    self._signal_running(started, signal.SIGTERM)
        finally:
            for number in files:
                os.close(number)
        waiting = [
            threading.Thread(target=self._report_end, args=(connection, task)) for task in started
        ]
        for thread in waiting:
            thread.start()
        listening = threading.Thread(
            target=self._obey, args=(connection, started, rest), daemon=True
        )
        listening.start()
        for thread in waiting:
            thread.join()
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        listening.join()

    def _start_task(
        self, connection: socket.socket, step: Message, task: Message, files: list[int]
    ) -> list[RunningTask]:
        """Start a task, unless its program is missing; its errors say why."""
        streams: list[int] = []
        variables = step["variables"] | task["variables"]
        try:
            for name in ("stdin", "stdout", "stderr"):
                streams.append(self._open_stream(task[name], files))
            folder = _find_folder(step["folder"], streams[2])
            process = subprocess.Popen(
                [_encode(word) for word in step["argv"]],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                cwd=folder,
                env={_encode(name): _encode(value) for name, value in variables.items()},
                process_group=0,
            )
        except OSError as error:
            code = error.errno or ABSENT
            self.exit_code = max(self.exit_code, code)
            # Without a stream, such as on a full disk, the problem is for the log of this rank.
            stream = streams[2] if len(streams) > 2 else sys.stderr.fileno()
            _complain(stream, f"execve(): {step['argv'][0]}: {error.strerror}")
            with suppress(OSError):  # srun may have ended
                messages.send(connection, {"ended": task["number"], "code": code})
            return []
        finally:
            for stream in streams:
                os.close(stream)
        return [RunningTask(task["number"], process)]

    def _open_stream(self, target: int | str, files: list[int]) -> int:
        """Return a file: one that srun sent, by its index, or a file by its path."""
        if isinstance(target, int):
            return os.dup(files[target])
        mode = os.O_RDWR if target == os.devnull else os.O_WRONLY | os.O_APPEND | os.O_CREAT
        return os.open(target, mode, 0o600)

    def _report_end(self, connection: socket.socket, task: RunningTask) -> None:
        code = task.process.wait()
        # What the program left behind ends with it, as when a container ends.
        _signal_group(task.process, signal.SIGKILL)
        with self.lock:
            self.tasks.remove(task)
            self.exit_code = max(self.exit_code, code if code >= 0 else 128 - code)
            with suppress(OSError):
                messages.send(connection, {"ended": task.number, "code": code})

    def _obey(self, connection: socket.socket, tasks: list[RunningTask], rest: bytes) -> None:
        """Send the signals that srun asks for; if it ends before the tasks, kill them."""
        for message in messages.receive_all(connection, rest):
            self._signal_running(tasks, signal.Signals(message["signal"]))
        self._signal_running(tasks, signal.SIGKILL)

    def _signal_running(self, tasks: list[RunningTask], number: signal.Signals) -> None:
        with self.lock:
            for task in tasks:
                if task in self.tasks:
                    _signal_group(task.process, number)


def _wait_for_end(connection: socket.socket, rest: bytes) -> None:
    for _ in messages.receive_all(connection, rest):
        pass


def _find_folder(folder: str, errors: int) -> str:
    """Return the folder in which a task starts: another one, as on Slurm, if it is missing."""
    try:
        os.close(os.open(folder, os.O_PATH | os.O_DIRECTORY))
    except OSError as error:
        _complain(
            errors, f"couldn't chdir to `{folder}': {error.strerror}: going to {ELSEWHERE} instead"
        )
        return ELSEWHERE
    return folder


def _complain(stream: int, text: str) -> None:
    with suppress(OSError):
        os.write(stream, f"slurmstepd: error: {text}\n".encode(errors="surrogateescape"))


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def run_host(folder: Path, rank: int) -> int:
    return Host(folder, rank, ScriptJob.read(folder)).serve()
