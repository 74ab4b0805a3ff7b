"""The same terminal for programs: by bearer token, and with a command of their choice."""

from collections.abc import Sequence
from urllib.parse import parse_qs

from accounts import tokens
from accounts.models import User
from core.query import whole_number
from workloads.terminal.shell import SHELL
from workloads.terminal.socket import Terminal

LONGEST_COMMAND = 200  # words
BEARER = "Bearer "


class ProgramTerminal(Terminal):
    """``/api/v1/workloads/<id>/exec?rank=0&argv=nvidia-smi&argv=-L``; without ``argv`` a shell."""

    noun = "program"

    def rank(self) -> int:
        number = whole_number("".join(self._query("rank")[:1]) or "0")
        return -1 if number is None else number  # which no rank has

    def argv(self) -> Sequence[str]:
        return self._query("argv")[:LONGEST_COMMAND] or SHELL

    def user(self) -> User | None:
        """Browsers send no such header of their own accord, so no page of another site gets in."""
        headers = dict(self.scope["headers"])
        value = headers.get(b"authorization", b"").decode("latin-1")
        return tokens.owner(value.removeprefix(BEARER)) if value.startswith(BEARER) else None

    def _query(self, name: str) -> list[str]:
        text = self.scope["query_string"].decode("latin-1")
        return parse_qs(text, keep_blank_values=True).get(name, [])
