"""Ports of running ranks for programs, over a websocket each."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts import tokens
from accounts.models import User
from audit.models import AuditEntry
from config.asgi import application
from engines.fake import FakeEngine
from tests.sockets import Socket
from tests.workloads.own import use_own_credential
from tests.workloads.terminal.conftest import play
from workloads.models import Workload
from workloads.terminal import forward

pytestmark = pytest.mark.django_db(transaction=True)
NO_LONGER = "You are no longer signed in, or no longer have access to this workload."


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """What the rank serves."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)
        yield listening


def port_of(server: socket.socket) -> int:
    return int(server.getsockname()[1])


def call(workload: Workload, token: str, query: str) -> Socket:
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {token}".encode())]
    path = f"/api/v1/workloads/{workload.pk}/portforward"
    scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
    return Socket(application, scope)


@asynccontextmanager
async def opened(workload: Workload, token: str, query: str) -> AsyncIterator[Socket]:
    socket = call(workload, token, query)
    assert await socket.connect()
    try:
        yield socket
    finally:
        await socket.disconnect()


async def ended(socket: Socket) -> str:
    text = (await socket.receive_output(5))["text"]
    assert (await socket.receive_output(5))["type"] == "websocket.close"
    return str(json.loads(text)["ended"])


def refusal(workload: Workload, token: str, query: str) -> str:
    async def scenario() -> str:
        async with opened(workload, token, query) as socket:
            return await ended(socket)

    return str(play(scenario))


def test_bytes_travel_both_ways_until_the_rank_ends_the_connection(
    engine: FakeEngine, workload: Workload, member: User, server: socket.socket
) -> None:
    async def scenario() -> Any:
        async with opened(workload, token, f"port={port_of(server)}&rank=1") as program:
            peer, _ = await asyncio.to_thread(server.accept)
            with peer:
                await program.send(b"\x00asked\xff")
                assert await asyncio.to_thread(peer.recv, 100) == b"\x00asked\xff"
                await program.send('{"eof": true}')
                assert await asyncio.to_thread(peer.recv, 100) == b""
                peer.sendall(b"answered")
                assert (await program.receive_output(5))["bytes"] == b"answered"
            return await ended(program)

    token = tokens.access_token_for(member)
    assert play(scenario) == ""


def test_no_port_is_forwarded_to_others_where_the_authors_own_credentials_are(
    engine: FakeEngine, workload: Workload, administrator: User, server: socket.socket
) -> None:
    use_own_credential(workload)
    token = tokens.access_token_for(administrator)
    query = f"port={port_of(server)}"
    assert "belong to maria alone" in refusal(workload, token, query)


def test_the_connection_ends_when_the_program_leaves(
    engine: FakeEngine, workload: Workload, member: User, server: socket.socket
) -> None:
    async def scenario() -> bytes:
        async with opened(workload, token, f"port={port_of(server)}"):
            peer, _ = await asyncio.to_thread(server.accept)
        with peer:
            return await asyncio.to_thread(peer.recv, 100)

    token = tokens.access_token_for(member)
    assert play(scenario) == b""


def test_many_connections_to_a_port_are_one_line_of_the_audit_log(
    engine: FakeEngine, workload: Workload, member: User, server: socket.socket
) -> None:
    async def scenario() -> None:
        for _ in range(3):
            async with opened(workload, token, f"port={port_of(server)}"):
                (await asyncio.to_thread(server.accept))[0].close()

    token = tokens.access_token_for(member)
    play(scenario)
    assert AuditEntry.objects.filter(verb="forward a port of").count() == 1
    [event] = workload.events.filter(verb="port-forward")
    assert (
        event.message == f"Port {port_of(server)} of {workload.ranks.get(rank=0).name} forwarded."
    )


@pytest.mark.parametrize("query", ["", "port=x", "port=0", "port=65536", "port=-1"])
def test_a_port_that_is_none_is_refused(
    engine: FakeEngine, workload: Workload, member: User, query: str
) -> None:
    why = refusal(workload, tokens.access_token_for(member), query)
    assert why == "port must be a number from 1 to 65535."


def test_a_port_that_nothing_listens_on_is_told(
    engine: FakeEngine, workload: Workload, member: User, server: socket.socket
) -> None:
    port = port_of(server)
    server.close()
    why = refusal(workload, tokens.access_token_for(member), f"port={port}")
    assert why == f"Nothing listens on port {port}."


def test_only_ranks_that_run_have_ports(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    workload.ranks.filter(rank=0).update(phase="Completed")
    assert "is Completed" in refusal(workload, tokens.access_token_for(member), "port=80")


def test_connections_of_one_user_are_limited(
    engine: FakeEngine,
    workload: Workload,
    member: User,
    server: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> str:
        async with opened(workload, token, query), opened(workload, token, query) as second:
            return await ended(second)

    monkeypatch.setattr(forward, "CONNECTIONS_PER_USER", 1)
    token = tokens.access_token_for(member)
    query = f"port={port_of(server)}"
    assert play(scenario) == "You have 1 connections open, which is the limit."


def test_a_forwarded_port_ends_with_its_token(
    engine: FakeEngine, workload: Workload, member: User, server: socket.socket
) -> None:
    async def scenario() -> str:
        async with opened(workload, token, f"port={port_of(server)}") as program:
            await sync_to_async(change_password)()
            return await ended(program)

    def change_password() -> None:
        member.set_password("another, quite long")
        member.save()

    token = tokens.access_token_for(member)
    assert play(scenario) == NO_LONGER


def test_only_tokens_of_those_who_may_stop_the_workload_forward_its_ports(
    engine: FakeEngine, workload: Workload, member: User, stranger: User
) -> None:
    async def scenario() -> list[bool]:
        let_in = []
        for token, query in asked:
            socket = call(workload, token, query)
            let_in.append(await socket.connect())
            await socket.disconnect()
        return let_in

    own = tokens.access_token_for(member)
    asked = [
        (own, "port=1&rank=9"),
        (tokens.access_token_for(stranger), "port=1"),
        ("made-up", "port=1"),
    ]
    assert play(scenario) == [False, False, False]
