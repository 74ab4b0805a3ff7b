"""The websocket of a forwarded port, which carries the bytes of one TCP connection in both
directions."""

import asyncio
import json
import socket
from contextlib import suppress
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import User
from core.web.query import parse_number
from workloads.models import Rank
from workloads.terminal import access, forward
from workloads.terminal.access import NotOpened
from workloads.terminal.forward import Forward
from workloads.terminal.program import TokenWebsocket, is_end_of_input
from workloads.terminal.socket import LONGEST_MESSAGE, NOT_UNDERSTOOD, TOO_BIG

CHUNK_BYTES = 65_536
in_thread = database_sync_to_async


class PortForward(TokenWebsocket, AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """``/api/v1/workloads/<id>/portforward?port=8888&rank=0``

    Binary messages carry the bytes. Text messages are JSON: with ``{"eof": true}`` the program says
    that it will send no more, and ``{"ended": why}`` is the last message to the program, with an
    empty text if the rank ended the connection.
    """

    opened: Forward | None = None

    async def connect(self) -> None:
        workload_id = self.scope["url_route"]["kwargs"]["pk"]
        admitted = await in_thread(self._find_rank, thread_sensitive=False)(workload_id)
        if admitted is None:
            await self.refuse()
            return
        await self.accept()
        enter = in_thread(forward.open_forward, thread_sensitive=False)
        try:
            self.opened = await enter(*admitted, parse_number(self.query_value("port")))
        except NotOpened as problem:
            await self.finish(str(problem))
            return
        self.opened.stream.setblocking(False)
        self.tasks = [
            asyncio.create_task(self.send_output()),
            asyncio.create_task(self.end_when_due()),
        ]

    def _find_rank(self, workload_id: UUID) -> tuple[User, Rank] | None:
        return access.find_rank(self.user(), workload_id, self.rank())

    def _reason_to_end(self, opened: Forward) -> str:
        return forward.reason_to_end(opened, self.user())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.opened is None:
            return
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self.close(TOO_BIG)
        elif bytes_data is not None:
            with suppress(OSError):  # the rank has ended it, which `carry` reports
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(self.opened.stream, bytes_data)
        elif is_end_of_input(text_data or ""):
            with suppress(OSError):
                self.opened.stream.shutdown(socket.SHUT_WR)
        else:
            await self.close(NOT_UNDERSTOOD)

    async def disconnect(self, code: int) -> None:
        opened = self.opened
        self.opened = None
        if opened is None:
            return
        for task in self.tasks:
            task.cancel()
        await in_thread(forward.close_forward, thread_sensitive=False)(opened)

    async def send_output(self) -> None:
        """Pass on what the rank sends, as fast as the program reads it."""
        assert self.opened  # noqa: S101 -- only started with one
        stream = self.opened.stream
        loop = asyncio.get_running_loop()
        why = ""
        try:
            while data := await loop.sock_recv(stream, CHUNK_BYTES):
                await self.send(bytes_data=data)
        except OSError as error:
            why = f"The connection was cut: {error.strerror or error}."
        await self.finish(why)

    async def end_when_due(self) -> None:
        """End the connection once its user loses access or the rank has ended."""
        assert self.opened  # noqa: S101 -- only started with one
        why = ""
        while not why:
            await asyncio.sleep(access.CHECK_SECONDS)
            why = await in_thread(self._reason_to_end, thread_sensitive=False)(self.opened)
        await self.finish(why)

    async def finish(self, why: str) -> None:
        await self.send(text_data=json.dumps({"ended": why}))
        await self.close()
