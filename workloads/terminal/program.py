"""Websockets for programs, opened with a bearer token: a terminal that runs a given command."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async

from accounts import tokens
from accounts.models import User
from core.rest.api import ApiError
from core.text import parse_json
from core.web.query import parse_number
from workloads.terminal import piped
from workloads.terminal.shell import SHELL
from workloads.terminal.socket import LONGEST_MESSAGE, TOO_BIG, Terminal

HTTP_ANSWER_EXTENSION = (
    "websocket.http.response"  # the ASGI extension that allows other answers than 403
)
NO_TOKEN = ApiError(401, "A valid token is needed.")
NO_RANK = ApiError(404, "This rank does not exist, or you do not have access to it.")
MOST_ARGUMENTS = 200  # words
BEARER = "Bearer "


def is_end_of_input(text: str) -> bool:
    """Whether a message says that the program will send no more."""
    with suppress(ValueError):
        return bool(parse_json(text) == {"eof": True})
    return False


class TokenWebsocket:
    """A websocket opened with a bearer token, whose query has the number of the rank."""

    scope: dict[str, Any]
    base_send: Callable[[dict[str, Any]], Awaitable[None]]
    close: Callable[..., Awaitable[None]]

    async def refuse(self) -> None:
        """Refuse as REST does: 401 without a valid token, 404 for a rank that the user may not
        open. A server without the extension for such answers sends 403."""
        if HTTP_ANSWER_EXTENSION not in (self.scope.get("extensions") or {}):
            await self.close()
            return
        user = await database_sync_to_async(self.user, thread_sensitive=False)()
        error = NO_TOKEN if user is None else NO_RANK
        head = {"status": error.code, "headers": [(b"content-type", b"application/json")]}
        await self.base_send({"type": f"{HTTP_ANSWER_EXTENSION}.start", **head})
        body = json.dumps(error.body()).encode()
        await self.base_send({"type": f"{HTTP_ANSWER_EXTENSION}.body", "body": body})

    def rank(self) -> int:
        """Return the rank in the query: 0 by default, -1 if it is not a number."""
        number = parse_number(self.query_value("rank") or "0")
        return -1 if number is None else number  # no rank has this number

    def user(self) -> User | None:
        """Return the owner of the token. Browsers never add this header on their own, so pages of
        other sites have no access."""
        headers = dict(self.scope["headers"])
        value = headers.get(b"authorization", b"").decode("latin-1")
        if not value.startswith(BEARER):
            return None
        return tokens.token_owner(value.removeprefix(BEARER))

    def query_value(self, name: str) -> str:
        """Return the first value of a query parameter; empty if it is missing."""
        return "".join(self.query_values(name)[:1])

    def query_values(self, name: str) -> list[str]:
        text = self.scope["query_string"].decode("latin-1")
        return parse_qs(text, keep_blank_values=True).get(name, [])


class ProgramTerminal(TokenWebsocket, Terminal):
    """``/api/v1/workloads/<id>/exec?rank=0&argv=nvidia-smi&argv=-L``

    Without ``argv`` it runs a shell. With ``tty=false`` the program has pipes instead of a
    terminal, and ``{"eof": true}`` ends its input.
    """

    noun = "program"

    def argv(self) -> Sequence[str]:
        words = self.query_values("argv")[:MOST_ARGUMENTS]
        if self.has_terminal:
            return words or SHELL
        return piped.piped_command(words or piped.SHELL)

    @property
    def has_terminal(self) -> bool:
        return self.query_value("tty") != "false"

    async def connect(self) -> None:
        self.is_ready = asyncio.Event()
        self.head = b""
        self.encoder = piped.Encoder()
        await super().connect()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        is_end = not self.has_terminal and is_end_of_input(text_data or "")
        if self.has_terminal or self.opened is None or not (bytes_data or is_end):
            await super().receive(text_data, bytes_data)
        elif len(bytes_data or b"") > LONGEST_MESSAGE:
            await self.close(TOO_BIG)
        else:
            await self.is_ready.wait()
            await self.write_input(
                self.encoder.encode_end() if is_end else self.encoder.encode(bytes_data or b"")
            )

    def output_to_pass_on(self, data: bytes) -> bytes:
        """Return the part of the output to pass on. Nothing is passed on until the mark says that
        input can be piped, or the script has failed; the output before the mark is then the
        reason."""
        if self.has_terminal or self.is_ready.is_set():
            return data
        self.head += data
        before, mark, rest = self.head.partition(piped.READY)
        if mark:
            self.is_ready.set()
        return before.replace(b"\r\n", b"\n") + rest if mark else b""

    async def send_output(self) -> None:
        try:
            await super().send_output()
        finally:
            self.is_ready.set()  # otherwise input would wait for a program that has ended
