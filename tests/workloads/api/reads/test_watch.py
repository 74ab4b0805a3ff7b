"""Changes for programs that watch, through a real Valkey."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from django.utils import timezone

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from workloads import services
from workloads.api.reads import watch
from workloads.history import changes, events
from workloads.models import Event, Workload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]
Messages = AsyncIterator[bytes]
STREAMS: list[Messages] = []
FIRST = timezone.now() - timedelta(hours=1)


@pytest.fixture
def running(project: Project) -> Workload:
    return WorkloadFactory(project=project, name="train", running=True)


async def opened(user: User, query: str = "", last: str = "", token: str = "") -> Messages:
    token = token or await sync_to_async(tokens.access_token_for)(user)
    headers = {"Authorization": f"Bearer {token}"} | ({"Last-Event-ID": last} if last else {})
    response = await AsyncClient().get(f"/api/v1/workloads/watch?{query}", headers=headers)
    assert isinstance(response, StreamingHttpResponse), response.content
    assert response["Content-Type"] == "text/event-stream"
    messages = aiter(response)
    STREAMS.append(messages)
    assert await anext(messages) == b"retry: 1000\n\n"
    return messages


async def heard(messages: Messages, *events: str) -> list[dict[str, str]]:
    """The next messages, until one of these; beats are left out."""
    told: list[dict[str, str]] = []
    while not told or told[-1]["event"] not in (events or ("workload",)):
        text = (await asyncio.wait_for(anext(messages), 10)).decode()
        for part in filter(None, text.split("\n\n")):
            if not part.startswith(":"):
                told.append(dict(line.split(": ", 1) for line in part.splitlines()))
    return told


def gone(workload: Workload) -> None:
    Workload.objects.filter(pk=workload.pk).update(deleted_at=timezone.now())
    events.announce(workload)


async def left(messages: Messages) -> None:
    """What the server does when the program goes away."""
    reading = asyncio.ensure_future(anext(messages, None))
    await asyncio.sleep(0)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


def run(scenario: Callable[[], Awaitable[Any]]) -> Any:
    async def whole() -> Any:
        try:
            return await scenario()
        finally:
            while STREAMS:
                await left(STREAMS.pop())

    return async_to_sync(whole)()


def phase(workload: Workload, to: str) -> int:
    """A change of phase, as a watched cluster makes one; the number of its event."""
    Workload.objects.filter(pk=workload.pk).update(phase=to)
    workload.refresh_from_db()
    events.record_phase(workload)
    return workload.events.latest("pk").pk


def test_a_watcher_is_told_which_workload_changed_and_how_it_stands(
    researcher: User, running: Workload
) -> None:
    async def scenario() -> tuple[list[dict[str, str]], int, list[dict[str, str]]]:
        messages = await opened(researcher)
        begun = await heard(messages, "ready")
        version = await sync_to_async(phase)(running, "Completed")
        return begun, version, await heard(messages)

    begun, version, [message] = run(scenario)
    assert [it["event"] for it in begun] == ["ready"]
    assert json.loads(message["data"]) == {
        "id": str(running.pk),
        "name": "train",
        "projectId": str(running.project_id),
        "phase": "Completed",
        "deleted": False,
        "version": version,
    }
    assert message["id"].startswith(f"{version}-")


def test_new_and_deleted_workloads_are_told(researcher: User, running: Workload) -> None:
    async def scenario() -> list[Any]:
        messages = await opened(researcher)
        await heard(messages, "ready")
        await sync_to_async(events.record_submissions)([running], actor=researcher)
        told = await heard(messages)
        await sync_to_async(services.delete)(running, by=researcher)
        told += await heard(messages)
        await sync_to_async(gone)(running)
        return told + await heard(messages)

    told = [json.loads(it["data"]) for it in run(scenario)]
    assert {it["id"] for it in told} == {str(running.pk)}
    assert [(it["phase"], it["deleted"]) for it in told] == [
        ("Running", False),
        ("Deleting", False),
        ("Deleting", True),
    ]


def test_continuing_from_an_id_returns_later_changes(
    researcher: User, running: Workload, project: Project
) -> None:
    other = WorkloadFactory(project=project, name="other", running=True)
    Event.objects.filter(workload=other).update(at=FIRST)

    async def scenario() -> list[Any]:
        messages = await opened(researcher)
        [*_, ready] = await heard(messages, "ready")
        await left(messages)
        await sync_to_async(phase)(running, "Failed")
        again = await opened(researcher, last=ready["id"])
        return await heard(again, "ready", "reset")

    told = run(scenario)
    assert [it["event"] for it in told] == ["workload", "ready"]
    assert json.loads(told[0]["data"])["phase"] == "Failed"


@pytest.mark.parametrize("last", ["nonsense", "999999999-1790000000", "5", "-"])
def test_an_unknown_id_asks_to_read_the_list_again(
    researcher: User, running: Workload, last: str
) -> None:
    async def scenario() -> list[Any]:
        return await heard(await opened(researcher, last=last), "ready", "reset")

    assert [it["event"] for it in run(scenario)] == ["reset"]


def test_a_reader_who_missed_too_much_reads_the_list_again(
    researcher: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_REPLAYED", 2)
    for number in range(3):
        phase(WorkloadFactory(project=project, name=f"w{number}"), "Running")

    async def scenario() -> list[Any]:
        return await heard(await opened(researcher, last="0-1790000000"), "ready", "reset")

    assert [it["event"] for it in run(scenario)] == ["reset"]


def test_a_watch_tells_nobody_of_what_they_may_not_see(running: Workload) -> None:
    stranger = UserFactory.create()
    own = WorkloadFactory(project=ProjectFactory(members=[stranger]), name="own", running=True)

    async def scenario() -> list[Any]:
        messages = await opened(stranger, last="0-1790000000")
        told = await heard(messages, "ready", "reset")
        await sync_to_async(phase)(running, "Failed")
        await sync_to_async(phase)(own, "Failed")
        return told + await heard(messages)

    names = [json.loads(it["data"]).get("name") for it in run(scenario)]
    assert set(names) - {None} <= {"own"}
    assert names[-1] == "own"


def test_a_watch_can_be_of_one_workload(
    researcher: User, running: Workload, project: Project
) -> None:
    other = WorkloadFactory(project=project, name="other", running=True)

    async def scenario() -> list[Any]:
        messages = await opened(researcher, f"workloadId={running.pk}&projectId={project.pk}")
        await heard(messages, "ready")
        await sync_to_async(phase)(other, "Failed")
        await sync_to_async(phase)(running, "Failed")
        return await heard(messages)

    assert [json.loads(it["data"])["name"] for it in run(scenario)] == ["train"]


def test_a_watch_ends_with_its_token(
    researcher: User, running: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "CHECK_SECONDS", 0)

    async def scenario() -> list[bytes]:
        key, _ = await sync_to_async(tokens.make_key)(researcher, "watcher")
        token = await sync_to_async(tokens.access_token_for)(researcher, key=key)
        messages = await opened(researcher, token=token)
        await heard(messages, "ready")
        await sync_to_async(tokens.delete_key)(key, by=researcher)
        await sync_to_async(phase)(running, "Failed")
        return [part async for part in messages]

    assert run(scenario) == []


def test_many_who_are_told_of_a_change_read_it_together(
    running: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[set[Any]]()
    rows = changes._read_rows

    def counted(ids: set[Any]) -> Any:
        read.append(ids)
        return rows(ids)

    monkeypatch.setattr(changes, "_read_rows", counted)

    async def scenario() -> list[list[changes.WorkloadChange]]:
        return await asyncio.gather(*(changes.read_changes([running.pk]) for _ in range(50)))

    told = run(scenario)
    assert read == [{running.pk}]
    assert {one.phase for [one] in told} == {"Running"}


def test_a_watch_asks_for_a_token(db: None) -> None:
    answer = async_to_sync(AsyncClient().get)("/api/v1/workloads/watch")
    assert answer.status_code == 401
