"""Runs commands where Slurm's programs are: on this host, or on a login node by OpenSSH.

It uses OpenSSH's client, so that the site's ProxyJump, certificates and agents apply as usual. All
commands share one connection with a limited number of sessions, because an sshd allows ten sessions
for each connection.
"""

import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Protocol

from engines.base import EngineUnavailable

TIMEOUT = 30.0  # seconds; Slurm's own commands give up after 10
MESSAGE_LENGTH = 500  # characters kept of a failed command's message
SESSIONS = 6  # of ten, because terminals and tunnels need some as well


@dataclass(frozen=True)
class CommandResult:
    """The output and exit code of a command."""

    code: int
    data: bytes
    err: str

    @property
    def out(self) -> str:
        return self.data.decode(errors="replace")

    @property
    def message(self) -> str:
        """What the command printed about its failure, in one line."""
        return " ".join((self.err.strip() or self.out.strip()).split())[:MESSAGE_LENGTH]


class Transport(Protocol):
    """Runs commands. ``host`` is the name of the place where they run, for people."""

    host: str

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        """Run a command. Raises ``EngineUnavailable`` if the host cannot be reached or does not
        answer in time. The command may have run even then."""
        ...

    def terminal(self, argv: Sequence[str]) -> list[str]:
        """Return the command that gives ``argv`` a terminal on the cluster, to be run in a terminal
        of this host."""
        ...

    def tunnel(self, host: str, port: int) -> list[str] | None:
        """Return the command whose input and output lead to a port, or ``None`` if the port can be
        reached directly."""
        ...


#: ssh's message if the login node has too many connections, so that no command was started, and the
#: pauses before each further try, in seconds.
NOT_STARTED = "kex_exchange_identification"
RETRY_PAUSES = (0.5, 1.0, 2.0)
#: Seconds without a new connection after the first failure, the second in a row, and so on. They
#: spare a login node that is down, or that counts wrong keys.
RECONNECT = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
#: A line before a command's output, to tell it from the greetings of a login node.
BANNER_ENDS = "trainyard: begins"
WITH_BANNER = f"echo '{BANNER_ENDS}'; echo '{BANNER_ENDS}' >&2; exec \"$@\""


@dataclass(frozen=True)
class SlurmPrograms:
    """The paths of Slurm's programs and configuration, if they are not in the usual place."""

    folder: str = ""
    conf: str = ""

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """Return a command that runs ``argv`` with the site's programs and with times in UTC."""
        words = ["env", "TZ=UTC", "LC_ALL=C"]
        words += [f"SLURM_CONF={self.conf}"] if self.conf else []
        if self.folder:
            return [*words, "sh", "-c", 'PATH="$0:$PATH" exec "$@"', self.folder, *argv]
        return [*words, *argv]


@dataclass
class LocalTransport:
    """Runs commands on this host, as the user that Trainyard runs as."""

    programs: SlurmPrograms = SlurmPrograms()
    host: str = "this host"

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        return run_locally(self.programs.wrap(argv), stdin=stdin, timeout=timeout, host=self.host)

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return self.programs.wrap(argv)

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return None


@dataclass
class Outage:
    """The outage of a login node. ssh's message at the last of several failures in a row is
    reported again until the pause is over."""

    failures: int = 0
    at: float = float("-inf")
    until: float = float("-inf")
    message: str = ""

    def record_failure(self, message: str, began: float) -> None:
        """Record the failure of a command that ``began`` at a time. All commands that ran when one
        connection broke count as one failure."""
        if began <= self.at:
            return
        pause = RECONNECT[min(self.failures, len(RECONNECT) - 1)]
        self.failures = self.failures + 1
        self.at = time.monotonic()
        self.message = message
        self.until = self.at + pause

    def end(self) -> None:
        """End the pause; the next failure begins with the shortest pause again."""
        self.failures = 0
        self.at = float("-inf")
        self.until = float("-inf")
        self.message = ""


@dataclass
class SshTransport:
    """Runs commands over SSH. ``options`` are those of ``ssh``, including the control connection.
    All transports with the same connection share one ``outage``."""

    host: str
    options: Sequence[str]
    programs: SlurmPrograms = SlurmPrograms()
    outage: Outage = field(default_factory=Outage)
    _sessions: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(SESSIONS))

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = TIMEOUT
    ) -> CommandResult:
        began = time.monotonic()
        if began < self.outage.until:
            raise EngineUnavailable(self.outage.message)
        if not self._sessions.acquire(timeout=timeout):
            raise EngineUnavailable(f"All connections to {self.host} are busy.")
        try:
            words = ["sh", "-c", WITH_BANNER, "sh", *self.programs.wrap(argv)]
            line = ["ssh", *self.options, self.host, shlex.join(words)]
            for pause in (*RETRY_PAUSES, None):
                answer = run_locally(line, stdin=stdin, timeout=timeout, host=self.host)
                if pause is None or answer.code != 255 or NOT_STARTED not in answer.err:
                    break
                time.sleep(pause)
        finally:
            self._sessions.release()
        if answer.code == 255:
            message = explain_failure(self.host, answer.err)
            self.outage.record_failure(message, began)
            raise EngineUnavailable(message)
        self.outage.end()
        return remove_banner(answer)

    def terminal(self, argv: Sequence[str]) -> list[str]:
        return ["ssh", "-tt", *self.options, self.host, shlex.join(self.programs.wrap(argv))]

    def tunnel(self, host: str, port: int) -> list[str] | None:
        return ["ssh", *self.options, "-W", f"{host}:{port}", self.host]


def remove_banner(answer: CommandResult) -> CommandResult:
    """Return the result without the greetings that sites print in ``.bashrc`` and before a
    login."""
    _, has_banner, data = answer.data.partition(f"{BANNER_ENDS}\n".encode())
    _, has_error_banner, err = answer.err.partition(f"{BANNER_ENDS}\n")
    return CommandResult(
        answer.code, data if has_banner else answer.data, err if has_error_banner else answer.err
    )


def run_locally(line: Sequence[str], *, stdin: bytes, timeout: float, host: str) -> CommandResult:
    try:
        done = subprocess.run(
            line, input=stdin, capture_output=True, timeout=timeout, env=clean_environment()
        )
    except subprocess.TimeoutExpired as error:
        message = f"{host} did not answer within {timeout:g} s."
        raise EngineUnavailable(message) from error
    except OSError as error:
        raise EngineUnavailable(f"{line[0]} cannot be started: {error}.") from error
    return CommandResult(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def clean_environment() -> Mapping[str, str]:
    """Return the environment without the variables of a Slurm job, in which Trainyard may run."""
    needed = {"SLURM_CONF"}
    inherited = os.environ.items()
    return {
        name: value
        for name, value in inherited
        if name in needed
        or not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "SACCT_", "SRUN_"))
    }


BROKEN_KEY = "the private key cannot be read; paste it whole, with its first and last line"
#: Messages of ssh, and advice for each.
SSH_ADVICE = {
    "invalid format": BROKEN_KEY,  # before the refusal that follows from it
    "error in libcrypto": BROKEN_KEY,
    "Permission denied": "the login node does not accept the key; add the public key to the user's "
    "authorized_keys",
    "Host key verification failed": "the host key of the login node is not the expected one; enter "
    "its line of known_hosts, as ssh-keyscan prints it",
    "Could not resolve hostname": "the name of the login node is unknown here; check it",
    "Connection refused": "nothing listens at that port of the login node; check host and port",
    "Connection timed out": "the login node does not answer; check the network and host",
    "Too many authentication failures": "the login node was offered too many keys",
}


def explain_failure(host: str, message: str) -> str:
    """Return ssh's message with advice in front. The frame of a long warning is left out, so that
    the lines which name the failure fit."""
    advice = next((words for sign, words in SSH_ADVICE.items() if sign in message), "")
    text = advice or "the login node cannot be reached"
    lines = " ".join(line for line in message.splitlines() if not line.startswith("@"))
    words = " ".join(lines.split())[:MESSAGE_LENGTH]
    return f"{host}: {text}. ssh: {words or 'no message'}"
