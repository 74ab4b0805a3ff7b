"""Serve plain views on long-lived threads, and asynchronous views on the event loop.

Django's own ASGI handler starts a thread and opens a database connection for every request, and
switches between the loop and that thread at each change between synchronous and asynchronous
middleware. Here a plain view runs with all its middleware on one of a few threads, which keep their
connections. Only asynchronous views go through Django's handler. See
``docs/adr/0007-threads-that-stay.md``.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from threading import Event
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
from django.urls import Resolver404, ResolverMatch, resolve, set_script_prefix
from django.utils.log import log_response

from core.frames import with_room
from core.rest.api import CALLS, too_large
from core.rest.correlation import RequestIdMiddleware
from core.web.middleware import HeadersMiddleware

SIGN_IN = "/api/v1/token"  # checking a password takes a fifth of a second
SIGN_INS = {SIGN_IN, "/api/v2/token"}
ROWS = "/workloads/rows/"  # each open table requests this when one of its workloads changes
READS = {"GET", "HEAD", "OPTIONS"}
LATE_SECONDS = 1.0  # a wait this long means the threads are held up by SQLite's lock
LEAST_WAIT_SECONDS = 0.1
CONNECTION_SECONDS = 300  # then the thread opens a new connection
PAGES_FIRST_SECONDS = 0.1  # a call waits at most this long for pages in progress


class Precedence:
    """Lets pages go before REST calls, because a person waits for a page and a program for a call.

    A call starts when no page is being rendered, or after ``PAGES_FIRST_SECONDS``, so that a stream
    of pages cannot block the calls.
    """

    def __init__(self) -> None:
        self._pages = 0  # only changed on the event loop
        self._no_page = Event()
        self._no_page.set()

    @contextmanager
    def of_a_page(self) -> Iterator[None]:
        self._pages += 1
        self._no_page.clear()
        try:
            yield
        finally:
            self._pages -= 1
            if not self._pages:
                self._no_page.set()

    def let_pages_go_first(self) -> None:
        self._no_page.wait(PAGES_FIRST_SECONDS)


class BodyTooLarge(Exception):
    """More than any form or call needs, with its files."""


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        # Separate pools, so that none starves another: a busy REST client must not delay pages, and
        # repeated sign-ins must not delay calls. Changes have pools of their own because they may
        # wait for the database lock, which reads never do.
        pages, calls = settings.WEB_THREADS, settings.API_THREADS
        self.pages = ThreadPoolExecutor(pages, "web", _keep_connections)
        # When a workload changes, all open tables request its row at once: many cheap answers. As
        # with calls, more threads would only compete for the interpreter.
        self.rows = ThreadPoolExecutor(calls, "rows", _keep_connections)
        self.page_changes = ThreadPoolExecutor(pages, "web-change", _keep_connections)
        self.calls = ThreadPoolExecutor(calls, "api", _keep_connections)
        self.call_changes = ThreadPoolExecutor(calls, "api-change", _keep_connections)
        self.sign_ins = ThreadPoolExecutor(1, "sign-in", _keep_connections)
        self.precedence = Precedence()
        self.plain = PlainHandler()
        self.plain.load_middleware()
        chain = SecurityMiddleware(RequestIdMiddleware(HeadersMiddleware(_refusal)))
        self.refusal = cast(Callable[[HttpRequest], HttpResponse], chain)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self.handle_whole(scope, receive, send)
        except BodyTooLarge:
            await self.send_response(self.refuse(scope), send)

    def refuse(self, scope: Any) -> HttpResponse:
        """Answer what is not let in. No view is asked, but the answer has the id of the request,
        the headers that protect a browser and a line in the log, as any other has."""
        request, unreadable = self.create_request(scope, BytesIO())
        response = cast(HttpResponse, unreadable or self.refusal(cast(HttpRequest, request)))
        reason = response.reason_phrase
        log_response("%s: %s", reason, scope["path"], response=response, request=request)
        return response

    async def read_body(self, receive: Any) -> IO[bytes]:
        """In memory. Django's goes on to the disk with whatever anybody sends, signed in or not."""
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

    async def handle_whole(self, scope: Any, receive: Any, send: Any) -> None:
        if is_asynchronous(scope["path"]):
            await super().handle(scope, receive, send)
            return
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        run, arrived = asyncio.get_running_loop().run_in_executor, time.monotonic()
        threads = self.threads_for(scope["path"], scope["method"])
        with body:
            if threads in {self.pages, self.rows, self.page_changes}:
                with self.precedence.of_a_page():
                    response = await run(threads, self.answer, scope, body, arrived)
            else:
                response = await run(threads, self.answer_call, scope, body, arrived)
            await self.send_response(response, send)
            if response.streaming:
                await run(threads, response.close)

    def threads_for(self, path: str, method: str) -> ThreadPoolExecutor:
        if path in SIGN_INS:
            return self.sign_ins
        if path.startswith(CALLS):
            return self.calls if method in READS else self.call_changes
        if method not in READS:
            return self.page_changes
        return self.rows if path == ROWS else self.pages

    def answer_call(self, scope: Any, body: IO[bytes], arrived: float) -> HttpResponseBase:
        self.precedence.let_pages_go_first()
        return self.answer(scope, body, arrived)

    def answer(self, scope: Any, body: IO[bytes], arrived: float) -> HttpResponseBase:
        with _patience(time.monotonic() - arrived):
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


class PlainHandler(BaseHandler):
    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = match = resolved(request.path_info)
        return match


@lru_cache(4096)  # repeated addresses, such as those of the API
def resolved(path: str) -> ResolverMatch:
    return resolve(path)


def is_asynchronous(path: str) -> bool:
    """Whether the view at this path is asynchronous."""
    try:
        return iscoroutinefunction(resolved(path).func)
    except Resolver404:
        return False


def _refusal(request: HttpRequest) -> HttpResponse:
    """The rest of the request is not waited for."""
    error, headers = too_large(), {"Connection": "close"}
    if request.path.startswith(CALLS):
        return JsonResponse(error.body(), status=error.code, headers=headers)
    text = f"{error.message} {error.details}"
    return HttpResponse(text, "text/plain; charset=utf-8", status=error.code, headers=headers)


@contextmanager
def _patience(waited: float) -> Iterator[None]:
    """Shorten the wait for SQLite's lock by the ``waited`` seconds a request spent in the queue.

    Requests queue up when those before them wait for the lock. Without this, each would then wait
    the full time on its own; so a queue of changes is answered together.
    """
    if waited < LATE_SECONDS:
        yield
        return
    _wait_at_most(max(settings.WRITE_WAIT_SECONDS - waited, LEAST_WAIT_SECONDS))
    try:
        yield
    finally:
        _wait_at_most(settings.WRITE_WAIT_SECONDS)


def _wait_at_most(seconds: float) -> None:
    """Set how long SQLite waits for its lock, if this thread has a connection already; a new
    connection starts with the configured value."""
    if connection.vendor == "sqlite" and connection.connection is not None:
        connection.connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def _keep_connections() -> None:
    """Initialize a pool thread: its database connections stay open after a request."""
    for one in connections.all():
        kept: dict[str, Any] = {"CONN_MAX_AGE": CONNECTION_SECONDS, "CONN_HEALTH_CHECKS": True}
        if one.vendor == "sqlite":
            patience = {"timeout": settings.WRITE_WAIT_SECONDS}
            kept["OPTIONS"] = {**one.settings_dict["OPTIONS"], **patience}
        one.settings_dict = {**one.settings_dict, **kept}
