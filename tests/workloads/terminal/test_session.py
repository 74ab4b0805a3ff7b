"""What goes through a terminal, and what ends it."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session

from accounts.models import User
from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import RankPhase
from tests.factories import remove_members
from tests.workloads.terminal.conftest import key_of, opened, play
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db(transaction=True)


def test_bytes_go_both_ways_and_the_window_has_a_size(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> tuple[bytes, bytes, tuple[int, int]]:
        async with opened(workload, key, engine, rank=2) as page:
            shell = await page.shell()
            assert shell.rank == 2
            await page.socket.send(json.dumps({"columns": 120, "rows": 40}))
            await page.socket.send(b"ls\r\xff")
            typed = await asyncio.to_thread(shell.program.recv, 100)
            shell.program.sendall(b"a b\r\n\xfe")
            return typed, (await page.socket.receive_output(5))["bytes"], shell.size

    key = key_of(member)
    assert play(scenario) == (b"ls\r\xff", b"a b\r\n\xfe", (120, 40))


def test_opening_and_closing_are_written_down_but_no_content(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    async def scenario() -> str:
        async with opened(workload, key, engine) as page:
            shell = await page.shell()
            await page.socket.send(b"hunter2\r")
            shell.exit_code = 3
            shell.program.close()
            return await page.ended()

    key = key_of(member)
    assert play(scenario) == "The shell ended with exit code 3."
    said = [
        (event.actor, event.verb, event.message)
        for event in Event.objects.filter(workload=workload).order_by("pk")
    ]
    assert said == [
        (member, "terminal", "Terminal opened in master-0."),
        (
            member,
            "terminal",
            "Terminal closed in master-0: The shell ended with exit code 3.",
        ),
    ]
    assert engine.sessions[0].closed


def ended_by(workload: Workload, member: User, engine: FakeEngine, change: Any) -> str:
    key = key_of(member)

    async def scenario() -> str:
        async with opened(workload, key, engine) as page:
            await page.shell()
            await sync_to_async(change)()
            return await page.ended()

    why = str(play(scenario))
    assert engine.sessions[0].closed
    return why


def test_signing_out_ends_a_terminal(engine: FakeEngine, workload: Workload, member: User) -> None:
    why = ended_by(workload, member, engine, Session.objects.all().delete)
    assert "no longer signed in" in why


def test_losing_the_project_ends_a_terminal(
    engine: FakeEngine, workload: Workload, member: User, project: Project
) -> None:
    why = ended_by(workload, member, engine, lambda: remove_members(project))
    assert "no longer have access to this workload" in why


def test_a_locked_account_ends_its_terminals(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    lock = User.objects.filter(pk=member.pk).update
    assert "no longer" in ended_by(workload, member, engine, lambda: lock(is_active=False))


def test_the_end_of_a_rank_ends_its_terminal(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    stop = workload.ranks.update
    why = ended_by(workload, member, engine, lambda: stop(phase=RankPhase.SUCCEEDED))
    assert why == "master-0 is Succeeded."


def test_idleness_ends_a_terminal(
    engine: FakeEngine, workload: Workload, member: User, settings: Any
) -> None:
    settings.TERMINAL_IDLE_SECONDS = 0.3
    why = ended_by(workload, member, engine, lambda: None)
    assert why.startswith("Closed: no input for")


def test_a_cluster_that_does_not_answer_says_so(
    engine: FakeEngine, workload: Workload, member: User
) -> None:
    engine.raises = EngineUnavailable("The API server does not answer.")
    key = key_of(member)

    async def scenario() -> str:
        async with opened(workload, key, engine) as page:
            return await page.ended()

    assert play(scenario) == "The API server does not answer."


ODD = ["{}", "no json", '{"columns": 0, "rows": 1}', "[]", '{"columns": 1e999, "rows": 1}']
ODD += ["[" * 50_000, '{"columns": "\\u0000", "rows": 1}', '{"columns": NaN, "rows": 1}']


@pytest.mark.parametrize("message", ODD, ids=lambda it: it[:20])
def test_a_message_that_is_not_understood_closes_the_terminal(
    engine: FakeEngine, workload: Workload, member: User, message: str
) -> None:
    async def scenario() -> int:
        async with opened(workload, key, engine) as page:
            await page.shell()
            await page.socket.send(message)
            return int((await page.socket.receive_output(5))["code"])

    key = key_of(member)
    assert play(scenario) == 1003
