"""Terminals for programs: by token, into the rank and with the command that they name."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts import tokens
from accounts.models import User
from config.asgi import application
from engines.fake import FakeEngine
from tests.sockets import Socket
from tests.workloads.own import use_own_credential
from tests.workloads.terminal.conftest import Page, dial, key_of, play
from workloads.models import Workload
from workloads.terminal import piped
from workloads.terminal.program import is_end_of_input
from workloads.terminal.shell import SHELL

pytestmark = pytest.mark.django_db(transaction=True)


def call(workload: Workload, token: str, query: str = "", *more: tuple[bytes, bytes]) -> Socket:
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {token}".encode()), *more]
    path = f"/api/v1/workloads/{workload.pk}/exec"
    scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
    return Socket(application, scope)


@asynccontextmanager
async def opened(
    workload: Workload, token: str, engine: FakeEngine, query: str
) -> AsyncIterator[Page]:
    socket = call(workload, token, query)
    assert await socket.connect()
    try:
        yield Page(socket, engine)
    finally:
        await socket.disconnect()


def is_let_in(workload: Workload, *arguments: Any) -> bool:
    async def scenario() -> bool:
        socket = call(workload, *arguments)
        connected = await socket.connect()
        await socket.disconnect()
        return connected

    return bool(play(scenario))


def test_a_program_runs_in_the_named_rank_and_returns_its_code(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> Any:
        query = "rank=2&argv=sh&argv=-c&argv=exit%203"
        async with opened(workload, token, engine, query) as caller:
            shell = await caller.shell()
            assert (shell.rank, tuple(shell.argv)) == (2, ("sh", "-c", "exit 3"))
            shell.program.sendall(b"out")
            assert (await caller.socket.receive_output(5))["bytes"] == b"out"
            shell.exit_code = 3
            shell.program.close()
            return json.loads((await caller.socket.receive_output(5))["text"])

    token = tokens.access_token_for(member)
    ended = {"ended": "The program ended with exit code 3.", "exitCode": 3}
    assert play(scenario) == ended


def test_without_a_terminal_a_program_reads_pipes(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> None:
        async with opened(workload, token, engine, "argv=cat&tty=false") as caller:
            shell = await caller.shell()
            assert tuple(shell.argv) == (*piped.piped_command([]), "cat")
            await caller.socket.send_input({"type": "websocket.receive", "bytes": b"abcd"})
            end = {"type": "websocket.receive", "text": '{"eof": true}'}
            await caller.socket.send_input(end)
            shell.program.sendall(b"\x01")
            shell.program.sendall(b"\nabcd")
            assert (await caller.socket.receive_output(5))["bytes"] == b"abcd"
            shell.program.setblocking(False)
            sent = b""
            loop = asyncio.get_running_loop()
            while b"\x04" not in sent:
                sent += await loop.sock_recv(shell.program, 100)
            assert sent == b"YWJj\nZA==\n\x04"

    token = tokens.access_token_for(member)
    play(scenario)


def test_without_a_command_it_is_a_shell_in_the_first_rank(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> None:
        async with opened(workload, token, engine, "") as caller:
            shell = await caller.shell()
            assert (shell.rank, tuple(shell.argv)) == (0, SHELL)

    token = tokens.access_token_for(member)
    play(scenario)


def test_only_tokens_of_those_who_may_stop_the_workload_open_one(
    engine: FakeEngine, workload: Workload, member: User, stranger: User
) -> None:
    assert is_let_in(workload, tokens.access_token_for(member))
    assert not is_let_in(workload, tokens.access_token_for(stranger))
    assert not is_let_in(workload, "made-up")
    assert not is_let_in(workload, tokens.access_token_for(member), "rank=9")
    assert not is_let_in(workload, tokens.access_token_for(member), "rank=x")


@pytest.mark.parametrize("ending", ["exec", "portforward"])
def test_a_program_that_is_refused_reads_why(
    ending: str, engine: FakeEngine, workload: Workload, member: User, stranger: User
) -> None:
    async def statuses() -> list[int]:
        asked = [(mine, "rank=9&port=80"), (other, "rank=0&port=80"), ("made-up", "port=80")]
        return [await status(call(workload, *it)) for it in asked]

    async def status(socket: Socket) -> int:
        socket.scope["path"] = f"/api/v1/workloads/{workload.pk}/{ending}"
        socket.scope["extensions"] = {"websocket.http.response": {}}
        await socket.send_input({"type": "websocket.connect"})
        head = await socket.receive_output(5)
        body = await socket.receive_output(5)
        assert json.loads(body["body"])["code"] == head["status"]
        await socket.disconnect()
        return int(head["status"])

    mine = tokens.access_token_for(member)
    other = tokens.access_token_for(stranger)
    assert play(statuses) == [404, 404, 401]


def test_no_program_of_another_runs_where_the_authors_own_credentials_are(
    engine: FakeEngine, workload: Workload, administrator: User
) -> None:
    async def scenario() -> str:
        async with opened(workload, token, engine, "argv=env&tty=false") as caller:
            return await caller.ended()

    use_own_credential(workload)
    token = tokens.access_token_for(administrator)
    assert "belong to maria alone" in play(scenario)
    assert not engine.sessions


def test_cookies_and_tokens_open_only_their_own_terminals(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> bool:
        socket = dial(workload, "", origin="")
        return await socket.connect()

    cookie = (b"cookie", f"sessionid={key_of(member)}".encode())
    assert not is_let_in(workload, "", "", cookie)
    assert not play(scenario)


def test_an_open_terminal_ends_with_its_token(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> str:
        async with opened(workload, token, engine, "") as caller:
            await caller.shell()
            await sync_to_async(change_password)()
            return await caller.ended()

    def change_password() -> None:
        member.set_password("another, quite long")
        member.save()

    token = tokens.access_token_for(member)
    assert play(scenario).startswith("You are no longer signed in")


def test_odd_texts_are_no_end_of_input() -> None:
    """Nor does it end the terminal with an error, and leave its shell behind."""
    assert is_end_of_input('{"eof": true}')
    assert not any(map(is_end_of_input, ("", "{", '{"eof": 1e999}', "[]", 60_000 * "[")))
