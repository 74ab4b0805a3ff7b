"""Forwards ports of this machine to ports of a rank."""

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from trainyard_cli import lookup
from trainyard_cli.commands.describe import Name
from trainyard_cli.commands.logs import find_rank
from trainyard_cli.commands.terminal import Pod, Rank, open_socket
from trainyard_cli.commands.waiting import ENDED_PHASES
from trainyard_cli.errors import CliError, wrong_use
from trainyard_cli.invocation import Invocation, ProjectName, current_invocation
from trainyard_cli.show import Item

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PIECE = 65_536
END = json.dumps({"eof": True})
HIGHEST = 65_535
Ports = Annotated[
    list[str],
    typer.Option(
        "--port", metavar="LOCAL:REMOTE", help="80 is 80:80; :80 takes a free one here. Repeatable."
    ),
]
Address = Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")]


def port_forward(
    context: typer.Context,
    name: Name,
    port: Ports,
    address: Address = "127.0.0.1",
    project: ProjectName = "",
    rank: Rank = 0,
    pod: Pod = "",
) -> None:
    """Reach ports of a running rank at ports of this machine, until Ctrl-C."""
    invocation = current_invocation(context)
    pairs = [parse_ports(text) for text in port]
    workload = lookup.find_workload(invocation, name, project)
    if workload["phase"] in ENDED_PHASES:
        message = f"A port needs a running rank, and {name} is {workload['phase']}."
        raise CliError(message)
    number = find_rank(invocation, workload, pod) if pod else str(rank)
    forward_ports(invocation, workload, number, pairs, address)


def forward_ports(
    invocation: Invocation,
    workload: Item,
    number: str,
    pairs: Iterable[tuple[int, int]],
    address: str,
) -> None:
    """Forward pairs of a local port and one of a rank, until Ctrl-C."""
    path = f"/api/v1/workloads/{workload['id']}/portforward"
    with contextlib.ExitStack() as stack:
        for local, remote in pairs:
            listener = stack.enter_context(_listen(address, local))
            remote_path = f"{path}?{urlencode({'port': remote, 'rank': number})}"
            remote_name = f"port {remote} of rank {number} of {workload['name']}"
            local_address = f"{address}:{listener.getsockname()[1]}"
            print(f"{local_address} is {remote_name}.", file=sys.stderr, flush=True)
            _start_thread(_accept, invocation, listener, remote_path, remote_name)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def parse_ports(text: str) -> tuple[int, int]:
    """Parse ``--port``: return the local port, 0 for a free one, and the port of the rank."""
    local, colon, remote = text.rpartition(":")
    texts = (local or "0", remote) if colon else (remote, remote)
    if not all(it.isdecimal() and int(it) <= HIGHEST for it in texts) or not int(texts[1]):
        raise wrong_use(f"--port: {text!r} is not LOCAL:REMOTE, such as 8080:80.")
    return int(texts[0]), int(texts[1])


def _listen(address: str, port: int) -> socket.socket:
    """Listen at a local port. Raises ``CliError`` if that is impossible."""
    try:
        return socket.create_server((address, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise CliError(f"Cannot listen at {address}:{port}: {reason}.", "Use another.") from error


def _accept(invocation: Invocation, listener: socket.socket, path: str, remote_name: str) -> None:
    """Relay each connection to the rank in its own thread, until the local port is closed."""
    with contextlib.suppress(OSError):  # the listening socket was closed
        while True:
            peer, _ = listener.accept()
            _start_thread(_relay, invocation, peer, path, remote_name)


def _relay(invocation: Invocation, peer: socket.socket, path: str, remote_name: str) -> None:
    """Relay one connection in both directions until it ends."""
    try:
        with peer, open_socket(invocation, path, remote_name) as tunnel:
            _start_thread(_send, peer, tunnel)
            ended = _receive(peer, tunnel)
        if ended:
            print(f"trainyard: {remote_name}: {ended}", file=sys.stderr)
    except CliError as error:
        print(f"trainyard: {error}", file=sys.stderr)


def _send(peer: socket.socket, tunnel: "ClientConnection") -> None:
    """Pass on what the caller sends, and then say that nothing more follows."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed, OSError):
        while data := peer.recv(PIECE):
            tunnel.send(data)
        tunnel.send(END)


def _receive(peer: socket.socket, tunnel: "ClientConnection") -> str:
    """Pass on to the caller what arrives, and return why the connection ended. The reason is empty
    if the rank closed it."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed, OSError):
        for message in tunnel:
            if isinstance(message, str):
                return str(json.loads(message).get("ended") or "")
            peer.sendall(message)
    return ""


def _start_thread(run: object, *arguments: object) -> None:
    threading.Thread(target=run, args=arguments, daemon=True).start()  # type: ignore[arg-type]
