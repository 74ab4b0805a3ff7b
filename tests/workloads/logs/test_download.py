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


def test_the_downloaded_log_of_a_single_rank_has_its_colors(
    workload: Workload, member: User
) -> None:
    response, body = download(member, workload, "rank=2")
    assert body == b"\x1b[31mtwo\x1b[0m\n"
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


@pytest.mark.parametrize("query", ["rank=1", ""])
def test_a_download_has_each_line_once_in_its_last_state(
    workload: Workload, member: User, query: str
) -> None:
    stream = logs.Stream(workload.pk, 1, 0, 1)
    bar = "".join(f"\r{share:3}%|{'█' * share}" for share in range(101))
    logs.append(stream, f"{bar}\n{'x' * 3_000_000}\nform\ffeed\u2028\u0085\n".encode())
    logs.append(stream, b"1/9\r2/9")
    _, body = download(member, workload, query)
    named = [line.rpartition(" worker-0 ")[2] for line in body.decode().split("\n")]
    found = [line for line in named if line and "master" not in line and "worker" not in line]
    expected = [f"100%|{'█' * 100}", "x" * 3_000_000, "form\ffeed\u2028\u0085", "2/9"]
    assert [line.replace("\f", "") for line in found] == [it.replace("\f", "") for it in expected]


def test_the_page_shows_the_last_state_of_an_unfinished_line(
    workload: Workload, client: Client
) -> None:
    Workload.objects.filter(pk=workload.pk).update(logs_complete=False)
    logs.append(logs.Stream(workload.pk, 1, 0, 1), b"\rtraining: 1/200\rtraining: 2/200")
    address = f"/workloads/{workload.pk}/logs/lines/"
    page = client.get(address).content.decode()
    assert page.index("log-live") < page.index("training: 2/200")
    assert "training: 1/200" not in page
    earlier = client.get(f"{address}?before=0.0").content.decode()
    assert "log-live" not in earlier


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
    _, body = download(member, workload, "rank=1")
    assert body.startswith(b"[Trainyard] ")
    assert body.endswith(b"a line of it\n")
