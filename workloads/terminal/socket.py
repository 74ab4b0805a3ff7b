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
    visit: OpenTerminal | None = None
    why = ""

    async def connect(self) -> None:
        place = self.scope["url_route"]["kwargs"]["pk"], self.rank()
        admitted = await in_thread(self._admitted, thread_sensitive=False)(*place)
        if admitted is None:
            await self.refuse()
            return
        await self.accept()
        enter = in_thread(access.start_terminal, thread_sensitive=False)
        try:
            self.visit = await enter(*admitted, self.argv())
        except NotOpened as problem:
            await self.finish(str(problem))
            return
        self.visit.session.stream.setblocking(False)
        self.typed_at = asyncio.get_running_loop().time()
        self.tasks = [asyncio.create_task(self.show()), asyncio.create_task(self.look_after())]

    async def refuse(self) -> None:
        """Refuse before accepting, which the browser sees as a 403."""
        await self.close()

    def rank(self) -> int:
        return int(self.scope["url_route"]["kwargs"]["rank"])

    def argv(self) -> Sequence[str]:
        """The program to start and its arguments."""
        return SHELL

    def user(self) -> User | None:
        """The user who has the terminal open, or ``None`` once they are signed out. Checked
        regularly."""
        return user_of_session(self.scope["cookies"].get(settings.SESSION_COOKIE_NAME, ""))

    def _admitted(self, workload_id: UUID, rank: int) -> tuple[User, Rank] | None:
        return access.find_rank(self.user(), workload_id, rank)

    def _why_over(self, visit: OpenTerminal) -> str:
        return access.reason_to_end(visit, self.user())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.visit is None:
            return
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self.close(TOO_BIG)
        elif bytes_data:
            await self.type(bytes_data)
        elif size := _parse_window_size(text_data or ""):
            self.visit.session.resize(*size)
        else:
            await self.close(NOT_UNDERSTOOD)

    async def type(self, data: bytes) -> None:
        assert self.visit  # noqa: S101 -- only asked with one
        loop = asyncio.get_running_loop()
        self.typed_at = loop.time()
        with suppress(OSError):  # the shell has ended, which `show` reports
            await loop.sock_sendall(self.visit.session.stream, data)

    def shown(self, data: bytes) -> bytes:
        """The part of the output to pass on."""
        return data

    async def disconnect(self, code: int) -> None:
        visit = self.visit
        self.visit = None
        if visit is None:
            return
        for task in self.tasks:
            task.cancel()
        await in_thread(access.end_terminal, thread_sensitive=False)(visit, self.why)

    async def show(self) -> None:
        """Pass on what the shell prints, as fast as the page reads it."""
        assert self.visit  # noqa: S101 -- only started with one
        session = self.visit.session
        loop = asyncio.get_running_loop()
        try:
            while data := await loop.sock_recv(session.stream, CHUNK_BYTES):
                if shown := self.shown(data):
                    await self.send(bytes_data=shown)
        except ConnectionResetError:
            pass  # it ended before it had read all of its input
        except OSError:
            return  # closed by `disconnect`
        code = session.exit_code
        words = f"The {self.noun} ended with exit code {code}."
        await self.finish(session.trouble or words, None if session.trouble else code)

    async def look_after(self) -> None:
        """End the terminal after too long without input, or once its user loses access."""
        assert self.visit  # noqa: S101 -- only started with one
        loop = asyncio.get_running_loop()
        idle = settings.TERMINAL_IDLE_SECONDS
        while not self.why:
            quiet = loop.time() - self.typed_at
            await asyncio.sleep(min(access.CHECK_SECONDS, max(idle - quiet, 0.1)))
            if loop.time() - self.typed_at >= idle:
                await self.finish(f"Closed: no input for {idle / 60:g} minutes.")
                return
            if why := await in_thread(self._why_over, thread_sensitive=False)(self.visit):
                await self.finish(why)

    async def finish(self, why: str, code: int | None = None) -> None:
        """Send the reason and the exit code, then close."""
        self.why = why
        await self.send(text_data=json.dumps({"ended": why, "exitCode": code}))
        await self.close()


def _parse_window_size(text: str) -> tuple[int, int] | None:
    """Columns and rows of ``{"columns": 80, "rows": 24}``; ``None`` for anything else."""
    try:
        message: Any = parse_json(text)
        size = int(message["columns"]), int(message["rows"])
    except (ValueError, TypeError, KeyError):
        return None
    return size if all(0 < length <= LARGEST_WINDOW for length in size) else None
