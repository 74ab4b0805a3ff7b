"""Live updates through a real Valkey."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import redis
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.sessions.models import Session
from django.db import DatabaseError, Error, InterfaceError
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, remove_members
from tests.waiting import wait_for
from workloads import live
from workloads.history import events
from workloads.live import BEAT, PageWatch
from workloads.models import Workload

pytestmark = pytest.mark.django_db(transaction=True)
Read = Callable[[], Awaitable[str]]


async def opened(user: User, query: str = "") -> AsyncIterator[bytes]:
    client = AsyncClient()
    await client.aforce_login(user)
    response = await client.get(f"/stream/?{query}")
    assert isinstance(response, StreamingHttpResponse)
    assert response["Content-Type"] == "text/event-stream"
    assert "no-cache" in response["Cache-Control"]
    messages = aiter(response)
    assert await anext(messages) == b"retry: 1000\n\n"
    assert (await anext(messages)).decode() == BEAT, "the stream has begun"
    return messages


async def heard(messages: AsyncIterator[bytes]) -> str:
    return (await asyncio.wait_for(anext(messages), 5)).decode()


def test_a_member_hears_of_the_projects_workloads(
    valkey: redis.Redis, workload: Workload, member: User
) -> None:
    async def scenario() -> str:
        messages = await opened(member)
        await sync_to_async(events.announce)(workload)
        return await heard(messages)

    assert async_to_sync(scenario)() == f"data: w-{workload.pk}\n\n"


def test_changes_that_come_together_are_told_together(
    valkey: redis.Redis, workload: Workload, member: User
) -> None:
    def change() -> None:
        for _ in range(3):
            events.announce(workload)
        events.announce_new([workload])

    async def scenario() -> str:
        messages = await opened(member)
        await sync_to_async(change)()
        return await heard(messages)

    names = async_to_sync(scenario)().removeprefix("data: ").split()
    assert sorted(names) == sorted([f"w-{workload.pk}", f"new-{workload.pk}"])


def test_live_updates_tell_nobody_of_other_projects(
    valkey: redis.Redis, workload: Workload, stranger: User, administrator: User
) -> None:
    own = ProjectFactory(name="team-b", members=[stranger])

    async def scenario() -> tuple[str, str]:
        theirs = await opened(stranger)
        all_of_it = await opened(administrator)
        await sync_to_async(events.announce)(workload)
        first = await heard(all_of_it)
        workload.project_id = own.pk
        await sync_to_async(events.announce_new)([workload])
        return first, await heard(theirs)

    of_all, of_own = async_to_sync(scenario)()
    assert of_all == f"data: w-{workload.pk}\n\n"
    assert of_own == f"data: new-{workload.pk}\n\n", "and nothing of team-a before it"


def lock(user: User, project: Project) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def sign_out(user: User, project: Project) -> None:
    Session.objects.all().delete()


def lose_the_project(user: User, project: Project) -> None:
    remove_members(project, user)


@pytest.mark.parametrize("change", [lock, sign_out, lose_the_project])
def test_live_updates_end_with_what_their_reader_may_see(
    valkey: redis.Redis,
    workload: Workload,
    member: User,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[User, Project], None],
) -> None:
    monkeypatch.setattr(live, "CHECK_SECONDS", 0)

    async def scenario() -> str:
        messages = await opened(member)
        await sync_to_async(events.announce)(workload)
        first = await heard(messages)
        await sync_to_async(change)(member, workload.project)
        await sync_to_async(events.announce)(workload)
        with pytest.raises(StopAsyncIteration):
            await heard(messages)
        return first

    assert async_to_sync(scenario)() == f"data: w-{workload.pk}\n\n"


def test_output_is_told_to_those_who_ask(
    valkey: redis.Redis, workload: Workload, member: User
) -> None:
    async def scenario() -> tuple[str, str]:
        quiet = await opened(member)
        one = await opened(member, f"only={workload.pk}")
        await sync_to_async(events.announce_output)(workload)
        first = await heard(quiet)
        return first, await heard(one)

    assert async_to_sync(scenario)() == (BEAT, f"data: o-{workload.pk}\n\n")


def test_a_live_stream_sends_heartbeats_to_a_user_without_projects(
    valkey: redis.Redis, stranger: User
) -> None:
    async def scenario() -> None:
        await opened(stranger)

    async_to_sync(scenario)()


def test_a_live_stream_asks_for_signing_in(db: None) -> None:
    assert Client().get("/stream/").status_code == 403


def test_a_live_stream_lets_go_of_the_broker_when_the_page_leaves(
    valkey: redis.Redis, workload: Workload, member: User
) -> None:
    async def scenario() -> None:
        messages = await opened(member)
        assert valkey.pubsub_numpat() == 1
        reading = asyncio.ensure_future(anext(messages))
        await asyncio.sleep(0)  # it waits for a change
        reading.cancel()  # what the server does when the page leaves
        with pytest.raises(asyncio.CancelledError):
            await reading
        await asyncio.to_thread(wait_for, lambda: not valkey.pubsub_numpat())

    async_to_sync(scenario)()


@pytest.mark.parametrize("administrator", [True, False])
def test_an_open_stream_keeps_no_connection_to_the_database(
    monkeypatch: pytest.MonkeyPatch, administrator: bool
) -> None:
    ended = list[bool]()
    monkeypatch.setattr(live, "release_connection", lambda: ended.append(True))
    live.channels_of(UserFactory.create(administrator=administrator))
    assert ended == [True]


@pytest.mark.parametrize("fault", [DatabaseError, InterfaceError])
def test_a_live_stream_ends_in_order_where_the_database_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: type[Error]
) -> None:
    def closed(_: str) -> User | None:
        raise fault("connection already closed")

    monkeypatch.setattr(live, "user_of_session", closed)
    monkeypatch.setattr(live, "release_connection", lambda: None)
    assert PageWatch("a-session", [], "", all_output=False)._channels_now() is None
    assert "were cut: connection already closed" in caplog.text
