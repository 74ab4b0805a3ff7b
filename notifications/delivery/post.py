"""Send one POST request to a checked address. The total time is limited, redirects are not
followed, and only the beginning of the answer is read."""

import socket
import ssl
import time
from contextlib import closing
from dataclasses import dataclass, replace

import h11
from django.conf import settings

from core.text import replace_unfit_characters
from notifications.delivery import receivers
from notifications.delivery.receivers import AddressRefused, Receiver, Resolve
from notifications.models import LONGEST_ANSWER

TIMEOUT_SECONDS = 10.0  # for connecting, sending and reading the answer together
LONGEST_HEAD = 16 * 1024
CHUNK_BYTES = 4096


@dataclass(frozen=True)
class HookAnswer:
    """The result of sending a message: a status and the beginning of the answer, or a ``fault``."""

    status: int | None = None
    answer: str = ""
    fault: str = ""
    milliseconds: int = 0

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver asks for no more messages."""
        return self.status == 410


def post(
    url: str,
    body: str,
    headers: dict[str, str],
    *,
    resolve: Resolve = receivers.resolve,
    seconds: float = TIMEOUT_SECONDS,
) -> HookAnswer:
    """Send a message. The result describes every fault of the receiver; no exception is raised for
    it. ``seconds`` limits connecting, sending and reading together."""
    begun = time.monotonic()
    try:
        receiver = receivers.resolve_receiver(url, resolve)
        status, answer = _exchange(receiver, body.encode(), headers, begun + seconds)
        result = HookAnswer(status, answer, _status_fault(status))
    except AddressRefused as error:
        result = HookAnswer(fault=f"The address {error}.")
    except TimeoutError:
        result = HookAnswer(fault=f"No complete answer within {seconds:g} s.")
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason
        result = HookAnswer(fault=f"TLS failed: {reason}")
    except socket.gaierror:
        result = HookAnswer(fault="The host name cannot be resolved. Check the address.")
    except (OSError, h11.ProtocolError) as error:
        result = HookAnswer(fault=f"The connection failed: {error}")
    return replace(result, milliseconds=round(1000 * (time.monotonic() - begun)))


def _status_fault(status: int) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return "It redirects, which is not followed. Enter the address that it redirects to."
    return f"The receiver answered {status}."


def _exchange(
    receiver: Receiver, body: bytes, headers: dict[str, str], deadline: float
) -> tuple[int, str]:
    """Send the message and return the status and the beginning of the answer."""
    all_headers = {
        "Host": receiver.authority,
        "User-Agent": f"Trainyard/{settings.VERSION}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    peer = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
    request = h11.Request(method="POST", target=receiver.target, headers=list(all_headers.items()))
    parts = (request, h11.Data(data=body), h11.EndOfMessage())
    with closing(_connect(receiver, deadline)) as connection:
        connection.settimeout(_remaining_seconds(deadline))
        connection.sendall(b"".join(peer.send(part) or b"" for part in parts))
        return _read_answer(peer, connection, deadline)


def _connect(receiver: Receiver, deadline: float) -> socket.socket:
    """Connect to the checked address. TLS checks the certificate for the host name."""
    plain = socket.create_connection(
        (receiver.ip, receiver.port), timeout=_remaining_seconds(deadline)
    )
    if receiver.scheme == "http":
        return plain
    try:
        plain.settimeout(_remaining_seconds(deadline))
        return ssl.create_default_context().wrap_socket(plain, server_hostname=receiver.host)
    except BaseException:
        plain.close()
        raise


def _read_answer(
    peer: h11.Connection, connection: socket.socket, deadline: float
) -> tuple[int, str]:
    status = 0
    answer = b""
    while len(answer) < LONGEST_ANSWER:
        event = peer.next_event()
        if event is h11.NEED_DATA:
            connection.settimeout(_remaining_seconds(deadline))
            peer.receive_data(connection.recv(CHUNK_BYTES))
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            answer += event.data
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            break
    return status, replace_unfit_characters(answer[:LONGEST_ANSWER].decode(errors="replace"))


def _remaining_seconds(deadline: float) -> float:
    """Return the seconds until the deadline. ``TimeoutError`` after it."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
