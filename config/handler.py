"""Requests on threads that stay, streams on the event loop.

Django's own handler starts a thread and opens a database connection for every request, and changes
between the loop and that thread once for each change between plain and asynchronous middleware.
Here a plain view runs with all its middleware on one of a few threads that keep their connections;
only asynchronous views take Django's way. See ``docs/adr/0007-threads-that-stay.md``.
"""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Event
from typing import IO, Any, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import connection, connections
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve, set_script_prefix

from core.frames import with_room
from core.rest.api import CALLS

SIGN_IN = "/api/v1/token"  # which spends a fifth of a second on the hash of a password
SIGN_INS = {SIGN_IN, "/api/v2/token"}
ROWS = "/workloads/rows/"  # which every open table asks for, whenever one of its workloads changes
READS = {"GET", "HEAD", "OPTIONS"}
LATE_SECONDS = 1.0  # so long nothing waits for a thread but when those before it wait for a lock
LEAST_WAIT_SECONDS = 0.1
CONNECTION_SECONDS = 300  # then a thread opens another
PAGES_FIRST_SECONDS = 0.1  # seconds that a call waits at most for pages that are being made


class Precedence:
    """Somebody waits for a page, a program for a call: a call begins while no page is being made,
    or else after ``PAGES_FIRST_SECONDS``, so that many pages do not stop the calls."""

    def __init__(self) -> None:
        self._pages = 0  # changed on the event loop alone
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


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        # Each with its own, so that a program that calls and calls keeps nobody from a page, and
        # whoever signs in, as often as it may be, keeps no program from its calls.
        # What changes something may have to wait for whoever else writes; what reads need not.
        pages, calls = settings.WEB_THREADS, settings.API_THREADS
        self.pages = ThreadPoolExecutor(pages, "web", _keep_connections)
        # All open tables ask for a row at once when it changes: many answers that take no time, and
        # as with calls more threads would only take the interpreter from each other.
        self.rows = ThreadPoolExecutor(calls, "rows", _keep_connections)
        self.page_changes = ThreadPoolExecutor(pages, "web-change", _keep_connections)
        self.calls = ThreadPoolExecutor(calls, "api", _keep_connections)
        self.call_changes = ThreadPoolExecutor(calls, "api-change", _keep_connections)
        self.sign_ins = ThreadPoolExecutor(1, "sign-in", _keep_connections)
        self.precedence = Precedence()
        self.plain = PlainHandler()
        self.plain.load_middleware()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
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
        """One request from start to end, but for what its response still has to make."""
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


@lru_cache(4096)  # addresses that are asked for again and again, such as those of the API
def resolved(path: str) -> ResolverMatch:
    return resolve(path)


def is_asynchronous(path: str) -> bool:
    """Whether the view of this address runs on the event loop."""
    try:
        return iscoroutinefunction(resolved(path).func)
    except Resolver404:
        return False


@contextmanager
def _patience(waited: float) -> Iterator[None]:
    """What waited for a thread already, because those before it waited for SQLite's lock, waits
    that much less for it: under a long lock a queue of changes is answered together."""
    if waited < LATE_SECONDS:
        yield
        return
    _wait_at_most(max(settings.WRITE_WAIT_SECONDS - waited, LEAST_WAIT_SECONDS))
    try:
        yield
    finally:
        _wait_at_most(settings.WRITE_WAIT_SECONDS)


def _wait_at_most(seconds: float) -> None:
    """For the lock of SQLite, where this thread has a connection; a new one waits as it is set."""
    if connection.vendor == "sqlite" and connection.connection is not None:
        connection.connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def _keep_connections() -> None:
    """For the thread it runs in: the end of a request closes none of its database connections."""
    for one in connections.all():
        kept: dict[str, Any] = {"CONN_MAX_AGE": CONNECTION_SECONDS, "CONN_HEALTH_CHECKS": True}
        if one.vendor == "sqlite":
            patience = {"timeout": settings.WRITE_WAIT_SECONDS}
            kept["OPTIONS"] = {**one.settings_dict["OPTIONS"], **patience}
        one.settings_dict = {**one.settings_dict, **kept}
