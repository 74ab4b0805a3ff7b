"""Runs shells and other programs in a running rank, in the caller's terminal."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from trainyard_cli import lookup
from trainyard_cli.commands.describe import Name
from trainyard_cli.commands.logs import find_rank
from trainyard_cli.errors import SIGN_IN, CliError, ExitCode, wrong_use
from trainyard_cli.invocation import Invocation, ProjectName, current_invocation
from trainyard_cli.show import Item

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PIECE = 4096
NO_MORE_INPUT = json.dumps({"eof": True})
END_OF_INPUT = b"\x04"  # for a terminal; without one, a message says it
Rank = Annotated[int, typer.Option("--rank", min=0, help="The rank; the first unless given.")]
Pod = Annotated[str, typer.Option("--pod", help="A pod instead, such as worker-0.")]
Container = Annotated[str, typer.Option("--container", "-c", hidden=True)]  # a pod has one
Stdin = Annotated[
    bool, typer.Option("--interactive", "--stdin", "-i", help="Pass standard input on.")
]
Tty = Annotated[
    bool, typer.Option("--tty", "-t", help="With a terminal, for programs that people work in.")
]


def bash(
    context: typer.Context,
    name: Name,
    project: ProjectName = "",
    rank: Rank = 0,
    pod: Pod = "",
    container: Container = "",
    interactive: Stdin = True,
    tty: Tty = False,
) -> None:
    """Open a shell in a rank of a workload. It runs what is piped into it."""
    has_terminal = tty or sys.stdin.isatty()
    invocation = current_invocation(context)
    workload, number = _find_target(invocation, name, project, rank, pod)
    run_program(invocation, workload, number, invocation.words, typed=True, tty=has_terminal)


def execute(
    context: typer.Context,
    name: Name,
    project: ProjectName = "",
    rank: Rank = 0,
    pod: Pod = "",
    container: Container = "",
    interactive: Stdin = False,
    tty: Tty = False,
) -> None:
    """Run what follows -- in a rank of a workload, and exit with its exit code.

    It has pipes, as in a script; -it gives it a terminal."""
    invocation = current_invocation(context)
    if context.args or not invocation.words:
        command = shlex.join(context.args or ["nvidia-smi"])
        raise wrong_use(f"Write the command after --, such as: trainyard exec {name} -- {command}")
    workload, number = _find_target(invocation, name, project, rank, pod)
    run_program(invocation, workload, number, invocation.words, typed=interactive, tty=tty)


def _find_target(
    invocation: Invocation, name: str, project: str, rank: int, pod: str
) -> tuple[Item, str]:
    """Return a workload, and the number of the rank that is meant."""
    workload = lookup.find_workload(invocation, name, project)
    return workload, find_rank(invocation, workload, pod) if pod else str(rank)


def run_program(
    invocation: Invocation,
    workload: Item,
    rank: str,
    words: Sequence[str],
    *,
    typed: bool,
    tty: bool,
) -> None:
    """Run a program in a rank, without words a shell, and exit with its code. ``typed`` passes
    standard input on. Raises ``CliError`` if it cannot run."""
    query = [
        ("rank", rank),
        ("tty", "true" if tty else "false"),
        *(("argv", word) for word in words),
    ]
    path = f"/api/v1/workloads/{workload['id']}/exec?{urlencode(query)}"
    with open_socket(invocation, path, f"rank {rank} of {workload['name']}") as socket:
        ended = _relay(socket, typed=typed, tty=tty)
    code = ended.get("exitCode")
    if code is None:
        raise CliError(str(ended.get("ended") or "The connection was cut."))
    if code:
        raise typer.Exit(code)


@contextlib.contextmanager
def open_socket(invocation: Invocation, path: str, what: str) -> Iterator["ClientConnection"]:
    """Open a web socket to the server, signed in. ``what`` names the other end in messages.

    Raises ``CliError`` if it cannot be opened.
    """
    from websockets.exceptions import InvalidStatus, WebSocketException
    from websockets.sync.client import connect

    client = invocation.client
    address = client.profile.server.replace("http", "ws", 1) + path
    try:
        socket = connect(address, additional_headers=client.bearer(), max_size=None)
    except InvalidStatus as error:
        raise _refusal(error.response.status_code, what) from error
    except (OSError, WebSocketException) as error:
        message = f"Cannot reach Trainyard at {client.profile.server}: {error}"
        raise CliError(message, code=ExitCode.UNREACHABLE) from error
    with socket:
        yield socket


def _refusal(status: int, what: str) -> CliError:
    """Return the error for a refused connection."""
    message = f"{what[0].upper()}{what[1:]} cannot be reached."
    if status == 401:
        return CliError(message, SIGN_IN, code=ExitCode.SIGNED_OUT)
    if status in {403, 404}:  # 403: from servers that cannot send a 404
        todo = "Check that it has this rank, and that you may change the workload."
        return CliError(message, todo, code=ExitCode.NOT_FOUND)
    return CliError(message, f"The answer was {status}.", code=ExitCode.UNREACHABLE)


def _relay(socket: "ClientConnection", *, typed: bool, tty: bool) -> dict[str, Any]:
    """Relay input and output until the program ends, and return the server's message about its
    end."""
    from websockets.exceptions import ConnectionClosed

    with (
        _raw_mode() if typed and tty else contextlib.nullcontext(),
        _follow_window_size(socket, tty=tty),
    ):
        if typed:
            threading.Thread(target=_send_input, args=(socket, tty), daemon=True).start()
        elif not tty:
            _send(socket, NO_MORE_INPUT)
        try:
            for message in socket:
                if isinstance(message, str):
                    ended: dict[str, Any] = json.loads(message)
                    return ended
                _write_output(message, tty=tty)
        except ConnectionClosed:
            pass
    return {}


def _send(socket: "ClientConnection", message: str) -> None:
    """Send a message, unless the connection has ended: the last message then says why."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed):
        socket.send(message)


def _write_output(data: bytes, *, tty: bool) -> None:
    """Write output. A terminal ends lines with two characters; a file gets only one of them."""
    output = sys.stdout.buffer
    output.write(data if sys.stdout.isatty() or not tty else data.replace(b"\r\n", b"\n"))
    output.flush()


def _send_input(socket: "ClientConnection", tty: bool) -> None:
    """Send standard input to the program, and then that it has ended."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed, OSError):
        while data := os.read(sys.stdin.fileno(), PIECE):
            socket.send(data)
        socket.send(END_OF_INPUT if tty else NO_MORE_INPUT)


@contextlib.contextmanager
def _raw_mode() -> Iterator[None]:
    """Pass every key to the program, Ctrl-C included, while the block runs."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin, termios.TCSADRAIN)  # keeps what was typed ahead
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _follow_window_size(socket: "ClientConnection", *, tty: bool) -> Iterator[None]:
    """Keep the program's window as large as this one while the block runs."""

    def tell(*_: object) -> None:
        size = shutil.get_terminal_size()
        _send(socket, json.dumps({"columns": size.columns, "rows": size.lines}))

    if not (tty and sys.stdout.isatty()):
        yield
        return
    tell()
    before = signal.signal(signal.SIGWINCH, tell)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
