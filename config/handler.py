"""Serve plain views on long-lived threads, and asynchronous views on the event loop.

Django's own ASGI handler starts a thread and opens a database connection for every request, and
switches between the loop and that thread at each change between synchronous and asynchronous
middleware. Here a plain view runs with all its middleware on one of a few threads, which keep their
connections. Only asynchronous views go through Django's handler. See
``docs/adr/0007-threads-that-stay.md``.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, resolve, set_script_prefix
from django.utils.log import log_response

from core.frames import with_room
from core.rest.api import API_PREFIXES, too_large
from core.rest.correlation import RequestIdMiddleware
from core.web.middleware import HeadersMiddleware

READS = {"GET", "HEAD", "OPTIONS"}
LATE_SECONDS = 1.0  # a wait this long means the threads are held up by SQLite's lock
LEAST_WAIT_SECONDS = 0.1
CONNECTION_SECONDS = 300  # then the thread opens a new connection

Receive = Callable[[], Awaitable[Any]]


class BodyTooLarge(Exception):
    """The request is larger than any form or call needs, with its files."""


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        # Changes have threads of their own, because they may wait for SQLite's lock. Reads are
        # answered meanwhile.
        self.reads = ThreadPoolExecutor(settings.READ_THREADS, "read", _keep_connections)
        self.changes = ThreadPoolExecutor(settings.CHANGE_THREADS, "change", _keep_connections)
        self.plain = BaseHandler()
        self.plain.load_middleware()
        chain = SecurityMiddleware(RequestIdMiddleware(HeadersMiddleware(_answer_too_large)))
        self.refusal = cast(Callable[[HttpRequest], HttpResponse], chain)

    async def handle(self, scope: Any, receive: Receive, send: Any) -> None:
        answer = super().handle if is_asynchronous(scope["path"]) else self.handle_on_thread
        try:
            await answer(scope, receive, send)
        except BodyTooLarge:
            await self.send_response(self.answer_too_large(scope), send)

    async def handle_on_thread(self, scope: Any, receive: Receive, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        threads = self.reads if scope["method"] in READS else self.changes
        run = asyncio.get_running_loop().run_in_executor
        with body:
            response = await run(threads, self.answer, scope, body, time.monotonic())
            await self.send_response(response, send)
            if response.streaming:
                await run(threads, response.close)

    async def read_body(self, receive: Receive) -> IO[bytes]:
        """Read a body of limited size into memory. Raises ``BodyTooLarge``.

        Django's method writes larger bodies to the disk, so that anybody could fill it without
        signing in.
        """
        body = BytesIO()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestAborted
            body.write(message.get("body", b""))
            if body.tell() > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
                raise BodyTooLarge
            if not message.get("more_body"):
                body.seek(0)
                return body

    def answer(self, scope: Any, body: IO[bytes], arrived: float) -> HttpResponseBase:
        with _shorten_wait(time.monotonic() - arrived):
            return with_room(self._answer, scope, body)

    def _answer(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """Answer one request completely, except for the content that a streaming response still
        produces."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response = refusal or self.plain.get_response(cast(ASGIRequest, request))
        if not response.streaming:
            response.close()
        return response

    def answer_too_large(self, scope: Any) -> HttpResponse:
        """Answer a request that is too large. No view is called, but like every answer it has the
        id of the request, the headers that protect a browser, and a line in the log."""
        request, unreadable = self.create_request(scope, BytesIO())
        response = cast(HttpResponse, unreadable or self.refusal(cast(HttpRequest, request)))
        reason = response.reason_phrase
        log_response("%s: %s", reason, scope["path"], response=response, request=request)
        return response


def is_asynchronous(path: str) -> bool:
    """Whether the view at this path is asynchronous."""
    try:
        return iscoroutinefunction(resolve(path).func)
    except Resolver404:
        return False


def _answer_too_large(request: HttpRequest) -> HttpResponse:
    """Return the answer that the request is too large. It closes the connection, because the rest
    of the request is not read."""
    error = too_large()
    headers = {"Connection": "close"}
    if request.path.startswith(API_PREFIXES):
        return JsonResponse(error.body(), status=error.code, headers=headers)
    text = f"{error.message} {error.details}"
    return HttpResponse(text, "text/plain; charset=utf-8", status=error.code, headers=headers)


@contextmanager
def _shorten_wait(waited: float) -> Iterator[None]:
    """Shorten the wait for SQLite's lock by the seconds that a request ``waited`` in the queue.

    Requests queue up behind those that wait for the lock. Without this, each would wait the full
    time again, one after the other.
    """
    if waited < LATE_SECONDS:
        yield
        return
    _set_busy_timeout(max(settings.WRITE_WAIT_SECONDS - waited, LEAST_WAIT_SECONDS))
    try:
        yield
    finally:
        _set_busy_timeout(settings.WRITE_WAIT_SECONDS)


def _set_busy_timeout(seconds: float) -> None:
    """Set how long SQLite waits for its lock, if this thread has a connection. A new connection
    starts with the configured value."""
    if connection.vendor == "sqlite" and connection.connection is not None:
        connection.connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def _keep_connections() -> None:
    """Initialize a thread of a pool, so that its connections to databases outlive a request."""
    for database in connections.all():
        options = dict(database.settings_dict["OPTIONS"])
        if database.vendor == "sqlite":
            options["timeout"] = settings.WRITE_WAIT_SECONDS
        database.settings_dict = {
            **database.settings_dict,
            "CONN_MAX_AGE": CONNECTION_SECONDS,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": options,
        }
