"""The ASGI application behind every tool's address. It admits those who may use the tool, and
passes their requests on to it."""

import asyncio
import socket
from collections.abc import Coroutine
from contextlib import suppress
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from redis.exceptions import RedisError

from clusters.connections import engine_for
from core.web.websockets import Receive, Scope, Send, origin_of, refuse_handshake
from engines.base import EngineError
from workloads.tools import access, addresses, carry
from workloads.tools.headers import COOKIE, Headers, grant_secret, header_value

CODE = "trainyard_code"
CHECK_SECONDS = 10.0  # how often open connections check their visitor's access
NO_SESSION = (
    "Your session for this tool has ended or has not started. Open the tool from its "
    "workload in Trainyard."
)


class Refused(Exception):
    """The request is refused with a status and a text for the visitor."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text
        super().__init__(text)


async def serve_tool(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a request to a tool's address: exchange a code for a cookie, or pass the request on."""
    host = header_value(scope["headers"], b"host").decode("latin-1")
    target = addresses.parse_tool_host(host)
    if scope["type"] == "websocket":
        await _serve_websocket(scope, receive, send, host, target)
        return
    try:
        if target is None:
            raise Refused(404, "Tool not found.")
        code = _code_in_query(scope)
        if code:
            await _exchange_code(scope, send, code, *target)
            return
        connection = await _connect(scope, *target)
        try:
            work = carry.carry_request(scope, receive, send, connection)
            await _while_admitted(work, scope, *target)
        except carry.NoAnswer:
            raise Refused(502, "The tool does not answer; it may still be starting.") from None
    except Refused as refusal:
        await _send_text(send, refusal.status, refusal.text)


async def _serve_websocket(
    scope: Scope, receive: Receive, send: Send, host: str, target: tuple[UUID, str] | None
) -> None:
    """Carry a websocket, if it comes from the tool's own pages. Browsers let any page open one."""
    origin = header_value(scope["headers"], b"origin").decode("latin-1")
    if target is None or origin != origin_of(scope, host):
        await refuse_handshake(scope, receive, send)
        return
    try:
        connection = await _connect(scope, *target)
    except Refused:
        await refuse_handshake(scope, receive, send)
        return
    work = carry.carry_websocket(scope, receive, send, connection)
    await _while_admitted(work, scope, *target)


async def _while_admitted(
    work: Coroutine[Any, Any, None], scope: Scope, workload_id: UUID, slug: str
) -> None:
    """Carry a request, and cut it once its visitor loses access."""
    secret = grant_secret(scope["headers"])
    carrying = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_until_refused(secret, workload_id, slug))
    try:
        await asyncio.wait([carrying, watching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        if not carrying.done():
            carrying.cancel()
    with suppress(asyncio.CancelledError):
        await carrying


async def _wait_until_refused(secret: str, workload_id: UUID, slug: str) -> None:
    admit = database_sync_to_async(access.find_admitted, thread_sensitive=False)
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        with suppress(RedisError):  # no answer is not a refusal; access was checked before
            if not await admit(secret, workload_id, slug):
                return


async def _connect(scope: Scope, workload_id: UUID, slug: str) -> socket.socket:
    secret = grant_secret(scope["headers"])
    dial = database_sync_to_async(_dial, thread_sensitive=False)
    connection: socket.socket = await dial(secret, workload_id, slug)
    return connection


def _dial(secret: str, workload_id: UUID, slug: str) -> socket.socket:
    try:
        admitted = access.find_admitted(secret, workload_id, slug)
    except RedisError as error:
        raise Refused(503, "Trainyard's broker does not answer. Try again soon.") from error
    if admitted is None:
        raise Refused(401, NO_SESSION)
    _, workload, tool = admitted
    problem = access.why_closed(workload, tool)
    if problem:
        raise Refused(503, problem)
    try:
        rank = tool.pod.rank
        port = tool.port
        return engine_for(workload.cluster).dial(workload.handle, rank=rank, port=port)
    except EngineError as error:
        raise Refused(502, f"The tool does not answer. {error}") from error


def _code_in_query(scope: Scope) -> str:
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return str(dict(query).get(CODE, ""))


async def _exchange_code(scope: Scope, send: Send, code: str, workload_id: UUID, slug: str) -> None:
    """Exchange the code for a cookie of this host, and redirect to the same page without
    the code."""
    redeem = database_sync_to_async(access.redeem_code, thread_sensitive=False)
    secret: str = await redeem(code, workload_id, slug)
    if not secret:
        raise Refused(401, NO_SESSION)
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in query if name != CODE])
    path = scope["raw_path"].decode("latin-1") + (f"?{rest}" if rest else "")
    headers = [(b"location", b"/" + path.lstrip("/").encode("latin-1")), set_cookie(secret)]
    await _send_text(send, 303, "", headers)


def set_cookie(secret: str) -> tuple[bytes, bytes]:
    cookie = SimpleCookie({COOKIE: secret})
    morsel = cookie[COOKIE]
    morsel["path"] = "/"
    morsel["httponly"] = True
    morsel["samesite"] = "Lax"
    morsel["max-age"] = access.GRANT_SECONDS
    if settings.SESSION_COOKIE_SECURE:
        morsel["secure"] = True
    text: str = morsel.OutputString()
    return b"set-cookie", text.encode()


async def _send_text(send: Send, status: int, text: str, headers: Headers | None = None) -> None:
    body = text.encode()
    all_headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *(headers or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
