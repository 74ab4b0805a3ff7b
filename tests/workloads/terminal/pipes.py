"""Talks to a program with pipes, as the server does for the command line."""

from contextlib import suppress

from engines.session import Session
from workloads.terminal import piped


def exchange(program: Session, data: bytes = b"", *, ends: bool = True) -> tuple[bytes, int | None]:
    """Send ``data`` to a program, and return what it prints and its exit code. Its input ends if
    ``ends``."""
    encoder = piped.Encoder()
    program.stream.settimeout(60)
    printed = b""
    try:
        while piped.READY not in printed:
            printed += program.stream.recv(65_536)
        with suppress(OSError):  # it may have ended
            program.stream.sendall(encoder.encode(data) + (encoder.encode_end() if ends else b""))
        with suppress(ConnectionResetError):  # it ended before it read everything
            while piece := program.stream.recv(65_536):
                printed += piece
    finally:
        program.close()
    before, _, after = printed.partition(piped.READY)
    assert before == b""
    return after, program.exit_code
