"""Ways to a place in the log: a time, a line that an address names, the line that decided."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from uuid import UUID

import pytest
from django.test import Client, override_settings
from pytest_django import Settings

from tests.workloads.logs.parts import merged_parts
from workloads import logs
from workloads.logs.reading import merge
from workloads.logs.reading.positions import cursor_at_line, cursor_at_time
from workloads.logs.store import cut_head
from workloads.models import Workload

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a workload with a line of ranks 0 and 2 each second, and a second attempt."""
    folder = tmp_path_factory.mktemp("written")
    its = UUID(int=1)
    with override_settings(LOG_STORE=folder):
        for second in range(2000):
            for rank in (0, 2):
                line = b"%04d of rank %d\n" % (second, rank)
                moment = NOW + timedelta(seconds=second)
                logs.append(logs.Stream(its, 1, 0, rank), line, at=moment)
        logs.append(logs.Stream(its, 1, 1, 0), b"again\n", at=NOW + timedelta(hours=1))
    return folder / str(its)


@pytest.fixture(autouse=True)
def output(written: Path, workload: Workload, settings: Settings, tmp_path: Path) -> None:
    settings.LOG_STORE = tmp_path
    copytree(written, tmp_path / str(workload.pk))


def lines(client: Client, workload: Workload, query: str) -> str:
    return client.get(f"/workloads/{workload.pk}/logs/lines/?{query}").content.decode()


def test_a_time_is_gone_to_with_lines_on_both_sides(workload: Workload, client: Client) -> None:
    page = lines(client, workload, "try=1-0&time=2026-11-21T12:10:00Z")
    first = merge.encode_cursor({0: 600 * len("0600 of rank 0\n")})
    assert f'data-aim="{first}"' in page
    assert "0599 of rank 2" in page
    assert page.count('class="log-line"') == 750
    assert (
        page.index("0599 of rank 2") < page.index("0600 of rank 0") < page.index("0600 of rank 2")
    )
    assert page == lines(client, workload, "try=1-0&time=2026-11-21T13:10:00%2B01:00")


def test_a_time_before_or_behind_all_lines_is_the_nearest_one(
    workload: Workload, client: Client
) -> None:
    for time, text in (("2020-01-01T00:00Z", "0000 of rank 0"), ("2030-01-01", "1999 of rank 2")):
        page = lines(client, workload, f"try=1-0&time={time}")
        assert text in page
        assert "data-aim" in page


def test_an_odd_time_leads_to_the_last_lines(workload: Workload, client: Client) -> None:
    for time in ("x", "", "99999-01-01", "2026-11-21T12:10:00+99:00"):
        assert "1999 of rank 2" in lines(client, workload, f"try=1-0&time={time}")


def test_lines_before_and_after_a_position_are_complete(workload: Workload) -> None:
    streams = list(logs.latest_streams(workload.pk, 1, 0).values())
    everything = [(line.rank, line.offset) for line in merged_parts(streams)]
    for number in (0, 1, 1000, 1001, 3998, 3999):
        rank, offset = everything[number]
        cursor = cursor_at_line(streams, rank, offset)
        before = [line for line in everything if line[1] < cursor[line[0]]]
        assert before == everything[:number]
    assert cursor_at_time(streams, NOW) == {0: 0, 2: 0}


def test_a_link_to_a_line_opens_it_with_what_is_around(workload: Workload, client: Client) -> None:
    place = merge.encode_cursor({2: 600 * len("0600 of rank 2\n")})
    page = client.get(f"/workloads/{workload.pk}/logs/?try=1-0&line={place}").content.decode()
    assert f'data-aim="{place}"' in page
    assert f"line={place}" in page, "the lines are asked for around it"
    window = lines(client, workload, f"try=1-0&line={place}")
    assert f'data-aim="{place}"' in window
    assert "0599 of rank 0" in window
    assert "0601 of rank 2" in window


def test_a_link_to_a_line_that_is_not_here_says_so(workload: Workload, client: Client) -> None:
    for query in ("try=1-1&line=0.zz", "line=9.0", "line=x", "line=" + "0" * 999):
        page = client.get(f"/workloads/{workload.pk}/logs/?{query}").content.decode()
        assert "The line of this link was not found" in page
        assert "data-aim" not in page
        assert "again" in lines(client, workload, query)


def test_places_in_output_that_was_cut_are_told_to_be_gone(
    workload: Workload, client: Client
) -> None:
    stream = logs.Stream(workload.pk, 2, 0, 0)
    logs.append(stream, b"".join(b"line %05d\n" % n for n in range(60_000)), at=NOW)
    if not cut_head(stream, 200_000):
        pytest.skip("this file system frees no part of a file")
    page = client.get(f"/workloads/{workload.pk}/logs/?try=2-0&line=0.0").content.decode()
    assert "The line of this link was not found" in page
    start = lines(client, workload, "try=2-0&time=2020-01-01")
    assert "of older output was removed" in start
    assert "line 00000" not in start


def test_the_first_error_is_the_line_that_decided(workload: Workload, client: Client) -> None:
    line = {"rank": 2, "attempt": 0, "offset": 15, "text": "0001 of rank 2"}
    address = f"/workloads/{workload.pk}/logs/?try=1-1&line=error"
    page = client.get(address).content.decode()
    assert "No error was found in the log of this run" in page
    Workload.objects.filter(pk=workload.pk).update(phase="Failed", failure_line=line)
    page = client.get(address).content.decode()
    assert 'data-try="1-0" data-aim="2.f"' in page
