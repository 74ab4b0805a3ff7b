"""What a terminal in a rank must do, on every engine that has a real shell."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from engines.base import EngineRefused, Launch
from engines.session import Session
from spec.phases import Phase
from tests.engines.contract import Rig
from tests.waiting import wait_for
from workloads.terminal import piped

BYTES = bytes(range(256)) * 500  # includes every byte that a terminal treats as a key


class TerminalContract:
    """Tests for an engine whose rig runs real programs."""

    @pytest.fixture
    def running(self, rig: Rig) -> Launch:
        """A launch whose ranks run until they are stopped."""
        launched = rig.submit(rig.endless())
        rig.seen(launched, Phase.RUNNING)
        return launched

    def test_runs_a_program_with_a_terminal_and_tells_its_exit_code(
        self, rig: Rig, running: Launch
    ) -> None:
        with opened(rig, running, "test -t 0 && echo RANK=$RANK; exit 5", rank=1) as session:
            assert b"RANK=1\r\n" in until_end(session)
            assert session.exit_code == 5
            assert not session.trouble

    def test_carries_what_is_typed_and_the_size_of_the_window(
        self, rig: Rig, running: Launch
    ) -> None:
        # A size need not arrive before what is typed after it.
        resized = "until stty size | grep '37 101'; do sleep 0.1; done"
        with opened(rig, running, f"stty -echo; echo ready; read x; {resized}; echo got $x") as it:
            until(it, b"ready\r\n")
            it.resize(101, 37)
            it.stream.sendall("grüße\n".encode())
            assert "37 101\r\ngot grüße\r\n".encode() in until_end(it)

    def test_carries_much_without_losing_any(self, rig: Rig, running: Launch) -> None:
        with opened(rig, running, "yes 0123456789abcde | head -n 100000") as session:
            assert until_end(session).replace(b"\r\n", b"\n").count(b"0123456789abcde\n") == 100_000

    def test_pipes_carry_every_byte_both_ways(self, rig: Rig, running: Launch) -> None:
        argv = piped.piped_command(["cat"])
        encoder = piped.Encoder()
        with opened(rig, running, argv=argv) as session:
            _, _, shown = until(session, piped.READY).partition(piped.READY)
            typed = encoder.encode(BYTES) + encoder.encode_end()
            typing = Thread(target=session.stream.sendall, args=[typed])
            typing.start()
            shown += until_end(session)
            typing.join()
            assert shown == BYTES
            assert session.exit_code == 0

    def test_hanging_up_ends_what_runs_in_it(self, rig: Rig, running: Launch) -> None:
        with opened(rig, running, "sleep 4321; true") as session:
            look = r"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -o 'sleep [4]321' || true"
            wait_for(lambda: self.shows(rig, running, look), 30, "the program to run", every=0.2)
            session.close()
            wait_for(lambda: not self.shows(rig, running, look), 30, "it to end", every=0.2)

    def test_says_why_a_program_does_not_start(self, rig: Rig, running: Launch) -> None:
        said = ""
        try:
            with opened(rig, running, argv=["/no/such/program"]) as session:
                said = until_end(session).decode()
                assert session.exit_code != 0
        except EngineRefused as error:
            said = str(error)
        assert "/no/such/program" in said

    @staticmethod
    def shows(rig: Rig, running: Launch, script: str) -> bytes:
        """Run a script in a terminal of its own, and return what it prints."""
        with opened(rig, running, script) as session:
            return until_end(session)


@contextmanager
def opened(
    rig: Rig, running: Launch, script: str = "", *, argv: list[str] | None = None, rank: int = 0
) -> Iterator[Session]:
    """Open a session in a rank, for a script or a command line, and close it after the block."""
    session = rig.engine.exec(running.handle, rank=rank, argv=argv or ["/bin/sh", "-c", script])
    session.stream.settimeout(30)
    try:
        yield session
    finally:
        session.close()


def until(session: Session, mark: bytes) -> bytes:
    """Read from a session until it has printed ``mark``."""
    found = b""
    while mark not in found:
        piece = session.stream.recv(65_536)
        assert piece, found
        found += piece
    return found


def until_end(session: Session) -> bytes:
    """Read from a session until it ends."""
    found = b""
    while piece := session.stream.recv(65_536):
        found += piece
    return found
