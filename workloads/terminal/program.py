"""Websockets for programs, by bearer token: the same terminal with a command of their choice."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async

from accounts import tokens
from accounts.models import User
from core.rest.api import ApiError
from core.web.query import whole_number
from workloads.terminal.shell import SHELL
from workloads.terminal.socket import Terminal

ANSWERS = "websocket.http.response"  # an extension of ASGI
NO_TOKEN = ApiError(401, "A valid token is needed.")
NO_RANK = ApiError(404, "This rank does not exist, or you do not have access to it.")
LONGEST_COMMAND = 200  # words
BEARER = "Bearer "


class ByToken:
    """A websocket whose query names a rank, opened with a bearer token."""

    scope: dict[str, Any]
    base_send: Callable[[dict[str, Any]], Awaitable[None]]
    close: Callable[..., Awaitable[None]]

    async def refuse(self) -> None:
        """As REST does: 401 without a valid token, 404 where it opens nothing. A server that cannot
        say so answers 403."""
        if ANSWERS not in (self.scope.get("extensions") or {}):
            await self.close()
            return
        user = await database_sync_to_async(self.user, thread_sensitive=False)()
        error = NO_TOKEN if user is None else NO_RANK
        head = {"status": error.code, "headers": [(b"content-type", b"application/json")]}
        await self.base_send({"type": f"{ANSWERS}.start", **head})
        body = json.dumps(error.body()).encode()
        await self.base_send({"type": f"{ANSWERS}.body", "body": body})

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
