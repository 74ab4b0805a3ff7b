"""Websockets for programs, by bearer token: the same terminal with a command of their choice."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from accounts import tokens
from accounts.models import User
from core.query import whole_number
from workloads.terminal.shell import SHELL
from workloads.terminal.socket import Terminal

LONGEST_COMMAND = 200  # words
BEARER = "Bearer "


class ByToken:
    """A websocket whose query names a rank, opened with a bearer token."""

    scope: dict[str, Any]

    def rank(self) -> int:
        number = whole_number(self.given("rank") or "0")
        return -1 if number is None else number  # which no rank has

    def user(self) -> User | None:
        """Browsers send no such header of their own accord, so no page of another site gets in."""
        headers = dict(self.scope["headers"])
        value = headers.get(b"authorization", b"").decode("latin-1")
        return tokens.owner(value.removeprefix(BEARER)) if value.startswith(BEARER) else None

    def given(self, name: str) -> str:
        return "".join(self.all_given(name)[:1])

    def all_given(self, name: str) -> list[str]:
        text = self.scope["query_string"].decode("latin-1")
        return parse_qs(text, keep_blank_values=True).get(name, [])


class ProgramTerminal(ByToken, Terminal):
    """``/api/v1/workloads/<id>/exec?rank=0&argv=nvidia-smi&argv=-L``; without ``argv`` a shell."""

    noun = "program"

    def argv(self) -> Sequence[str]:
        return self.all_given("argv")[:LONGEST_COMMAND] or SHELL
