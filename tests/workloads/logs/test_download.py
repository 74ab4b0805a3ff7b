"""Output as a file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client
from pytest_django import Settings

from accounts.models import User
from tests.disks import needs_holes
from workloads import logs
from workloads.models import Workload

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def output(workload: Workload, settings: Settings, tmp_path: Path) -> None:
    settings.LOG_STORE = tmp_path
    for second, rank, text in ((0, 0, b"one\n"), (1, 2, b"\x1b[31mtwo\x1b[0m\n"), (2, 0, b"three")):
        stream = logs.Stream(workload.pk, 1, 0, rank)
        logs.append(stream, text, at=NOW + timedelta(seconds=second))


def download(user: User, workload: Workload, query: str) -> tuple[StreamingHttpResponse, bytes]:
    async def fetch() -> tuple[StreamingHttpResponse, bytes]:
        client = AsyncClient()
        await client.aforce_login(user)
        response = await client.get(f"/workloads/{workload.pk}/logs/download/?{query}")
        assert isinstance(response, StreamingHttpResponse)
        return response, b"".join([part async for part in response])

    return async_to_sync(fetch)()


def test_the_downloaded_log_of_a_single_rank_is_as_it_was_printed(
    workload: Workload, member: User
) -> None:
    response, body = download(member, workload, "rank=2")
    assert body == b"\x1b[31mtwo\x1b[0m\n"
    assert response["Content-Length"] == str(len(body))
    assert response["Content-Disposition"] == 'attachment; filename="digits_worker-1_1-0.log"'


def test_the_downloaded_log_of_all_ranks_is_merged_with_time_and_rank(
    workload: Workload, member: User
) -> None:
    _, body = download(member, workload, "")
    assert body.decode().splitlines() == [
        "2026-11-21T12:00:00.000000Z master-0 one",
        "2026-11-21T12:00:01.000000Z worker-1 two",
        "2026-11-21T12:00:02.000000Z master-0 three",
    ]


def test_lines_are_filtered_by_rank_and_text(workload: Workload, client: Client) -> None:
    address = f"/workloads/{workload.pk}/logs/lines/"
    assert "two" not in client.get(f"{address}?rank=0").content.decode()
    assert "one" not in client.get(f"{address}?text=TWO&only=on").content.decode()
    assert "<mark>two</mark>" in client.get(f"{address}?text=TWO&only=on&rank=2").content.decode()


@pytest.mark.parametrize(
    "query", ["try=9-9", "try=x", "rank=99", "rank=x", "after=x", "before=0.z!"]
)
def test_nonsense_in_the_address_is_no_error(
    workload: Workload, client: Client, query: str
) -> None:
    assert client.get(f"/workloads/{workload.pk}/logs/lines/?{query}").status_code == 200
    assert client.get(f"/workloads/{workload.pk}/logs/?{query}").status_code == 200


def test_the_page_says_why_output_is_late(workload: Workload, client: Client) -> None:
    page = f"/workloads/{workload.pk}/logs/"
    assert logs.set_missing_reason(workload.pk, "node-7 does not return logs.")
    assert not logs.set_missing_reason(workload.pk, "node-7 does not return logs.")
    assert "node-7 does not return logs." in client.get(page).content.decode()
    assert logs.set_missing_reason(workload.pk, "")
    assert "Output is late" not in client.get(page).content.decode()


def test_a_log_whose_head_was_cut_is_downloaded_from_there(
    workload: Workload, member: User, tmp_path: Path
) -> None:
    needs_holes(tmp_path)
    stream = logs.Stream(workload.pk, 1, 0, 1)
    logs.append(stream, b"a line of it\n" * 20_000)
    logs.cut_head(stream, 1_000)
    response, body = download(member, workload, "rank=1")
    assert body.startswith(b"[Trainyard] ")
    assert body.endswith(b"a line of it\n")
    assert response["Content-Length"] == str(len(body))
