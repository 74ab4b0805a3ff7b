"""A terminal in which someone types ``trainyard`` commands, within this process."""

import contextlib
import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from trainyard_cli.app import main


@dataclass
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The words of each line, as of a table."""
        return [line.split() for line in self.out.splitlines()]


class Terminal:
    """A terminal. ``config`` is the file of the sign-in, ``server`` the address."""

    def __init__(self, server: str, config: Path) -> None:
        self.server = server
        self.config = config

    def __call__(self, line: str, *, typed: str = "", code: int | None = 0) -> Done:
        """Run a command, given without the program's name. ``typed`` is its input. It must exit
        with ``code``, unless that is ``None``."""
        out = io.StringIO()
        err = io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), _typing(typed):
            ended = main(["--config-file", str(self.config), *shlex.split(line)])
        done = Done(ended, out.getvalue(), err.getvalue())
        assert code in {None, done.code}, f"{line}: {done}"
        return done

    def sign_in(self, user: str, password: str) -> Done:
        return self(f"login --server {self.server} -u {user} --password-stdin", typed=password)


@contextlib.contextmanager
def _typing(text: str) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    try:
        yield
    finally:
        sys.stdin = before
