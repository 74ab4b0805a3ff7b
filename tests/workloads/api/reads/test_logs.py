"""Logs for programs: of one rank in bytes, of several merged by time, and followed to the end."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from tests.factories import WorkloadFactory
from workloads import logs
from workloads.history import events
from workloads.models import Workload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def store(settings: Settings, tmp_path: Path) -> None:
    settings.LOG_STORE = tmp_path


@pytest.fixture
def running(project: Project) -> Workload:
    return WorkloadFactory(project=project, name="train", running=True)


def printed(workload: Workload, second: int, rank: int, text: str, attempt: int = 0) -> None:
    stream = logs.Stream(workload.pk, 1, attempt, rank)
    logs.append(stream, text.encode(), at=NOW + timedelta(seconds=second))


@pytest.fixture
def three(running: Workload) -> Workload:
    printed(running, 0, 0, "one\n")
    printed(running, 1, 2, "\x1b[31mtwo\x1b[0m\n")
    printed(running, 2, 1, "three\n")
    return running


async def ask(user: User, workload: Workload, query: str) -> Any:
    token = await sync_to_async(tokens.access_token_for)(user)
    headers = {"Authorization": f"Bearer {token}"}
    return await AsyncClient().get(f"/api/v1/workloads/{workload.pk}/logs?{query}", headers=headers)


def lines(user: User, workload: Workload, query: str) -> list[str]:
    async def read() -> list[str]:
        answer = await ask(user, workload, query)
        assert isinstance(answer, StreamingHttpResponse), answer.content
        return b"".join([part async for part in answer]).decode().splitlines()

    return async_to_sync(read)()


def test_lines_of_all_ranks_are_merged_by_time_with_their_names(
    researcher: User, three: Workload
) -> None:
    assert lines(researcher, three, "rank=all") == [
        "master-0 one",
        "worker-1 two",
        "worker-0 three",
    ]
    assert lines(researcher, three, "rank=0,1") == ["master-0 one", "worker-0 three"]


def test_lines_of_a_single_rank_have_no_name(researcher: User, three: Workload) -> None:
    assert lines(researcher, three, "rank=2&tail=5") == ["two"]
    stamped = lines(researcher, three, "rank=2&timestamps=true")
    assert stamped == ["2026-11-21T12:00:01.000000Z two"]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("tail=2", 2),
        ("tail=0", 0),
        ("tail=9", 3),
        ("since=2026-11-21T12:00:01Z", 2),
        ("since=2026-11-21T12:00:02", 1),
        ("since=2026-11-21T12:00:01Z&tail=1", 1),
        ("since=2026-11-22T12:00:00Z", 0),
    ],
)
def test_only_the_last_lines_or_those_since_a_time_are_told(
    researcher: User, three: Workload, query: str, count: int
) -> None:
    every = lines(researcher, three, "rank=all")
    assert lines(researcher, three, f"rank=all&{query}") == every[len(every) - count :]


def test_the_attempt_before_is_told_where_there_is_one(
    researcher: User, call: Caller, three: Workload
) -> None:
    assert call("GET", f"/workloads/{three.pk}/logs?previous=true")[0] == 404
    printed(three, 9, 0, "again\n", attempt=1)
    Workload.objects.filter(pk=three.pk).update(attempt=1)
    assert lines(researcher, three, "rank=0&previous=true") == ["one"]
    assert lines(researcher, three, "rank=0&tail=9") == ["again"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("rank=first", "rank"),
        ("run=0", "run"),
        ("attempt=0", "attempt"),
        ("rank=all&offset=4", "offset"),
        ("tail=-1", "tail"),
        ("since=yesterday", "since"),
        ("folow=true", "folow"),
    ],
)
def test_a_place_that_is_none_is_refused_by_name(
    call: Caller, three: Workload, query: str, field: str
) -> None:
    status, answer = call("GET", f"/workloads/{three.pk}/logs?{query}")
    assert (status, answer["complianceIssues"][0]["field"]) == (400, field)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("rank=3", "rank"),
        ("rank=0,7", "rank"),
        ("rank=3&follow=true", "rank"),
        ("run=2", "run"),
        ("rank=all&run=2", "run"),
        ("attempt=2", "attempt"),
        ("rank=all&attempt=2&timestamps=true", "attempt"),
    ],
)
def test_a_rank_run_or_attempt_that_there_is_not_is_404(
    call: Caller, three: Workload, query: str, field: str
) -> None:
    status, answer = call("GET", f"/workloads/{three.pk}/logs?{query}")
    assert (status, answer["complianceIssues"][0]["field"]) == (404, field)


def test_an_attempt_that_an_earlier_run_did_not_have_is_404(call: Caller, three: Workload) -> None:
    printed(three, 5, 0, "again\n", attempt=1)
    Workload.objects.filter(pk=three.pk).update(run=2, attempt=0)
    for query, expected in (("attempt=2", 200), ("attempt=3", 404), ("rank=all&attempt=3", 404)):
        status, answer = call("GET", f"/workloads/{three.pk}/logs?run=1&{query}")
        assert status == expected
    assert answer["details"] == "attempt: the latest attempt is 2"


def test_a_wrong_rank_is_told_what_a_rank_looks_like(call: Caller, three: Workload) -> None:
    _, answer = call("GET", f"/workloads/{three.pk}/logs?rank=first")
    assert answer["complianceIssues"] == [
        {
            "field": "rank",
            "details": "must be the number of a rank, several with commas between, such as 0,2, "
            "or all",
            "rule": "format",
            "source": "",
        }
    ]


def test_a_run_and_an_attempt_are_told_by_their_numbers(researcher: User, three: Workload) -> None:
    printed(three, 5, 0, "again\n", attempt=1)
    Workload.objects.filter(pk=three.pk).update(run=2, attempt=0)
    logs.append(logs.Stream(three.pk, 2, 0, 0), b"anew\n", at=NOW + timedelta(seconds=9))
    assert lines(researcher, three, "rank=0&run=1&attempt=2&tail=9") == ["again"]
    assert lines(researcher, three, "rank=0&run=2&tail=9") == ["anew"]
    assert lines(researcher, three, "rank=0,1&run=1&attempt=1") == lines(
        researcher, three, "rank=0,1&run=1&attempt=1&since=2026-11-21T12:00:00Z"
    )


def test_a_followed_log_tells_what_comes_and_ends_with_the_workload(
    researcher: User, three: Workload
) -> None:
    async def read() -> list[str]:
        answer = await ask(researcher, three, "rank=all&follow=true&tail=1")
        parts: AsyncIterator[bytes] = aiter(answer)
        got = [await anext(parts)]
        await sync_to_async(printed)(three, 3, 0, "four\npart")
        await sync_to_async(events.announce_output)(three)
        got.append(await anext(parts))
        await sync_to_async(end)()
        got += [part async for part in parts]
        return [part.decode() for part in got]

    def end() -> None:
        Workload.objects.filter(pk=three.pk).update(logs_complete=True, phase="Completed")
        events.announce_output(three)

    parts = async_to_sync(in_time(read))()
    assert parts == ["worker-0 three\n", "master-0 four\n", "master-0 part\n"]


def test_an_unfinished_line_is_told_in_its_last_state(researcher: User, three: Workload) -> None:
    printed(three, 4, 0, "\rtraining: 1/200\rtraining: 2/200")
    assert lines(researcher, three, "rank=all")[-1] == "master-0 training: 2/200"
    assert lines(researcher, three, "rank=0&tail=1") == ["training: 2/200"]


def test_a_long_line_is_one_line_of_the_answer(researcher: User, running: Workload) -> None:
    printed(running, 0, 0, f"{'x' * 3_000_000}\nafter\u2028\u0085\n")

    async def read() -> list[str]:
        answer = await ask(researcher, running, "rank=0&tail=9")
        return b"".join([part async for part in answer]).decode().split("\n")

    assert async_to_sync(read)() == ["x" * 3_000_000, "after\u2028\u0085", ""]
    assert lines(researcher, running, "rank=0&tail=1") == ["after", "", ""]


def test_a_live_log_tells_each_state_of_an_unfinished_line(
    researcher: User, three: Workload
) -> None:
    async def read() -> list[str]:
        answer = await ask(researcher, three, "rank=all&follow=true&live=true&tail=1")
        parts: AsyncIterator[bytes] = aiter(answer)
        got = [await anext(parts)]
        for text in ("\r 1%", "\r 2%\r 3%", "\r 4%\ndone\n"):
            await sync_to_async(printed)(three, 3, 0, text)
            await sync_to_async(events.announce_output)(three)
            got.append(await anext(parts))
        return [part.decode() for part in got]

    told = async_to_sync(in_time(read))()
    assert told[0] == "worker-0 three\n"
    assert told[1:] == ["master-0  1%\r", "master-0  3%\r", "master-0  4%\nmaster-0 done\n"]


def test_a_followed_log_goes_on_with_the_next_attempt(researcher: User, three: Workload) -> None:
    def again() -> None:
        printed(three, 9, 1, "again\n", attempt=1)
        Workload.objects.filter(pk=three.pk).update(attempt=1, logs_complete=True)
        events.announce_output(three)

    async def read() -> str:
        answer = await ask(researcher, three, "rank=all&follow=true&tail=0")
        parts = aiter(answer)
        waiting = asyncio.ensure_future(anext(parts))
        await asyncio.sleep(0)
        await sync_to_async(again)()
        return (await waiting).decode()

    assert async_to_sync(in_time(read))() == "worker-0 again\n"


def in_time(read: Any) -> Any:
    async def run() -> Any:
        return await asyncio.wait_for(read(), 30)

    return run


def test_a_log_is_not_followed_without_access(
    call: Caller, stranger: Caller, three: Workload
) -> None:
    path = f"/workloads/{three.pk}/logs?rank=all&follow=true"
    assert stranger("GET", path)[0] == 404
    assert async_to_sync(AsyncClient().get)(f"/api/v1{path}").status_code == 401
