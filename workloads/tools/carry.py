"""Carry a request or a websocket to a tool, over a connection that is already open."""

import asyncio
import socket
from contextlib import suppress

import h11
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from core.web.websockets import Receive, Scope, Send
from workloads.tools.headers import header_value, headers_for_browser, headers_for_tool

CHUNK_BYTES = 65_536
LONGEST_HEAD = 65_536
LARGEST_MESSAGE = 16 * 1024**2  # bytes of a websocket message; uvicorn has the same limit
OPEN_SECONDS = 10.0
GONE = 1001
NO_TOOL = 1011


class NoAnswer(Exception):
    """The tool closed the connection before it answered."""


async def carry_request(
    scope: Scope, receive: Receive, send: Send, connection: socket.socket
) -> None:
    """Carry a request and its answer, streaming both bodies. Raises :class:`NoAnswer` if the tool
    ends the connection before anything was sent to the browser."""
    reader, writer = await asyncio.open_connection(sock=connection)
    peer = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    tool_request = h11.Request(
        method=scope["method"],
        target=scope["raw_path"] + query,
        headers=headers_for_tool(scope["headers"], scheme=scope["scheme"]),
    )
    writer.write(peer.send(tool_request) or b"")
    sending = asyncio.create_task(_send_body(peer, receive, writer))
    try:
        await _send_answer(peer, reader, send)
    finally:
        sending.cancel()
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await sending


async def _send_body(peer: h11.Connection, receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Send the request's body, then close the connection once the browser disconnects."""
    while (message := await receive())["type"] == "http.request":
        if body := message.get("body"):
            writer.write(peer.send(h11.Data(data=body)) or b"")
        if not message.get("more_body"):
            writer.write(peer.send(h11.EndOfMessage()) or b"")
        await writer.drain()
    writer.close()


async def _send_answer(peer: h11.Connection, reader: asyncio.StreamReader, send: Send) -> None:
    has_begun = False
    while True:
        try:
            event = peer.next_event()
            if event is h11.NEED_DATA:
                peer.receive_data(await reader.read(CHUNK_BYTES))
                continue
        except (h11.RemoteProtocolError, OSError) as error:
            if has_begun:
                return  # the server cuts an incomplete answer, which the browser notices
            raise NoAnswer from error
        if isinstance(event, h11.Response):
            has_begun = True
            headers = headers_for_browser(event.headers.raw_items())
            start = {"type": "http.response.start", "status": event.status_code}
            await send({**start, "headers": headers})
        elif isinstance(event, h11.Data):
            body = bytes(event.data)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        elif isinstance(event, h11.EndOfMessage):
            await send({"type": "http.response.body", "body": b""})
            return
        elif isinstance(event, h11.ConnectionClosed):
            raise NoAnswer


async def carry_websocket(
    scope: Scope, receive: Receive, send: Send, connection: socket.socket
) -> None:
    """Carry a websocket to the tool until one side closes it."""
    await receive()  # the browser's request to connect
    headers = headers_for_tool(scope["headers"], scheme=scope["scheme"])
    host = header_value(scope["headers"], b"host").decode("latin-1")
    path = scope["raw_path"].decode("latin-1")
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    additional_headers = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in headers
        if name != b"host"
    ]
    try:
        async with connect(
            f"ws://{host}{path}{query}",
            sock=connection,
            subprotocols=[Subprotocol(name) for name in scope["subprotocols"]] or None,
            additional_headers=additional_headers,
            compression=None,
            user_agent_header=None,
            proxy=None,
            max_size=LARGEST_MESSAGE,
            open_timeout=OPEN_SECONDS,
        ) as peer:
            await send({"type": "websocket.accept", "subprotocol": peer.subprotocol})
            await _carry_both_ways(peer, receive, send)
    except (WebSocketException, OSError, EOFError):
        await send({"type": "websocket.close", "code": NO_TOOL})


async def _carry_both_ways(peer: ClientConnection, receive: Receive, send: Send) -> None:
    tasks = [
        asyncio.create_task(_carry_from_browser(peer, receive)),
        asyncio.create_task(_carry_from_tool(peer, send)),
    ]
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.wait(tasks)
    for task in done:
        with suppress(WebSocketException):
            task.result()


async def _carry_from_browser(peer: ClientConnection, receive: Receive) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await peer.send(text if text is not None else message["bytes"])


async def _carry_from_tool(peer: ClientConnection, send: Send) -> None:
    async for message in peer:
        kind = "text" if isinstance(message, str) else "bytes"
        await send({"type": "websocket.send", kind: message})
    await send({"type": "websocket.close", "code": peer.close_code or GONE})
