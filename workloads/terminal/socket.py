"""The websocket of a terminal: bytes in both directions, and JSON for everything else."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from accounts.models import User
from accounts.sessions import user_of_session
from core.text import parse_json
from workloads.models import Rank
from workloads.terminal import access
from workloads.terminal.access import NotOpened, OpenTerminal
from workloads.terminal.shell import SHELL

CHUNK_BYTES = 16_384
LONGEST_MESSAGE = 65_536
LARGEST_WINDOW = 1000  # columns or rows
TOO_BIG = 1009
NOT_UNDERSTOOD = 1003
in_thread = database_sync_to_async


class Terminal(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """A terminal. Binary messages carry input and output. Text messages are JSON: the page sends
    ``{columns, rows}`` when its window changes, and ``{ended: why, exitCode: …}`` is the last
    message it gets."""

    noun = "shell"
    opened: OpenTerminal | None = None
    end_reason = ""

    async def connect(self) -> None:
        workload_id = self.scope["url_route"]["kwargs"]["pk"]
        find_rank = in_thread(self._find_rank, thread_sensitive=False)
        admitted = await find_rank(workload_id, self.rank())
        if admitted is None:
            await self.refuse()
            return
        await self.accept()
        enter = in_thread(access.start_terminal, thread_sensitive=False)
        try:
            self.opened = await enter(*admitted, self.argv())
        except NotOpened as problem:
            await self.finish(str(problem))
            return
        self.opened.session.stream.setblocking(False)
        self.typed_at = asyncio.get_running_loop().time()
        self.tasks = [
            asyncio.create_task(self.send_output()),
            asyncio.create_task(self.end_when_due()),
        ]

    async def refuse(self) -> None:
        """Refuse before accepting: the browser sees a 403."""
        await self.close()

    def rank(self) -> int:
        return int(self.scope["url_route"]["kwargs"]["rank"])

    def argv(self) -> Sequence[str]:
        """Return the program to start and its arguments."""
        return SHELL

    def user(self) -> User | None:
        """Return the user who has the terminal open; ``None`` once they are signed out. Called
        regularly."""
        return user_of_session(self.scope["cookies"].get(settings.SESSION_COOKIE_NAME, ""))

    def _find_rank(self, workload_id: UUID, rank: int) -> tuple[User, Rank] | None:
        return access.find_rank(self.user(), workload_id, rank)

    def _reason_to_end(self, visit: OpenTerminal) -> str:
        return access.reason_to_end(visit, self.user())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.opened is None:
            return
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self.close(TOO_BIG)
        elif bytes_data:
            await self.write_input(bytes_data)
        elif size := _parse_window_size(text_data or ""):
            self.opened.session.resize(*size)
        else:
            await self.close(NOT_UNDERSTOOD)

    async def write_input(self, data: bytes) -> None:
        assert self.opened  # noqa: S101 -- only asked with one
        loop = asyncio.get_running_loop()
        self.typed_at = loop.time()
        with suppress(OSError):  # the shell has ended, which `show` reports
            await loop.sock_sendall(self.opened.session.stream, data)

    def output_to_pass_on(self, data: bytes) -> bytes:
        """Return the part of the output to pass on."""
        return data

    async def disconnect(self, code: int) -> None:
        visit = self.opened
        self.opened = None
        if visit is None:
            return
        for task in self.tasks:
            task.cancel()
        await in_thread(access.end_terminal, thread_sensitive=False)(visit, self.end_reason)

    async def send_output(self) -> None:
        """Pass on what the shell prints, as fast as the page reads it."""
        assert self.opened  # noqa: S101 -- only started with one
        session = self.opened.session
        loop = asyncio.get_running_loop()
        try:
            while data := await loop.sock_recv(session.stream, CHUNK_BYTES):
                if shown := self.output_to_pass_on(data):
                    await self.send(bytes_data=shown)
        except ConnectionResetError:
            pass  # the program ended before it had read all of its input
        except OSError:
            return  # closed by `disconnect`
        code = session.exit_code
        if session.trouble:
            await self.finish(session.trouble)
        else:
            await self.finish(f"The {self.noun} ended with exit code {code}.", code)

    async def end_when_due(self) -> None:
        """End the terminal after too long without input, or once its user loses access."""
        assert self.opened  # noqa: S101 -- only started with one
        loop = asyncio.get_running_loop()
        idle = settings.TERMINAL_IDLE_SECONDS
        while not self.end_reason:
            quiet = loop.time() - self.typed_at
            await asyncio.sleep(min(access.CHECK_SECONDS, max(idle - quiet, 0.1)))
            if loop.time() - self.typed_at >= idle:
                await self.finish(f"Closed: no input for {idle / 60:g} minutes.")
                return
            if why := await in_thread(self._reason_to_end, thread_sensitive=False)(self.opened):
                await self.finish(why)

    async def finish(self, why: str, code: int | None = None) -> None:
        """Send the reason and the exit code, then close."""
        self.end_reason = why
        await self.send(text_data=json.dumps({"ended": why, "exitCode": code}))
        await self.close()


def _parse_window_size(text: str) -> tuple[int, int] | None:
    """Return columns and rows of ``{"columns": 80, "rows": 24}``; ``None`` for any other text."""
    try:
        message: Any = parse_json(text)
        size = int(message["columns"]), int(message["rows"])
    except (ValueError, TypeError, KeyError):
        return None
    return size if all(0 < length <= LARGEST_WINDOW for length in size) else None
