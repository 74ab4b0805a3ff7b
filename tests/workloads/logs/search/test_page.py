"""The search as the page asks for it: a moment a request, until all is searched."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.web import signed_in
from workloads import logs
from workloads.logs import choice
from workloads.models import Workload

LINES = 200_000


@pytest.fixture(autouse=True)
def output(workload: Workload, settings: Settings, tmp_path: Path) -> None:
    """In the first third of a large log, and nowhere else."""
    settings.LOG_STORE = tmp_path
    for rank in (0, 2):
        lines = (b"rank %d iteration %06d of many\n" % (rank, number) for number in range(LINES))
        logs.append(logs.Stream(workload.pk, 1, 0, rank), b"".join(lines))


def search(client: Client, workload: Workload, **query: str) -> dict[str, Any]:
    address = f"/workloads/{workload.pk}/logs/search/"
    answer: dict[str, Any] = client.get(address, query).json()
    while answer["searched"] < answer["size"]:
        assert answer["hit"] is None
        answer = client.get(address, query).json()
    return answer


def test_lines_far_from_the_end_are_counted_and_walked_to(
    workload: Workload, client: Client
) -> None:
    first = search(client, workload, text="Iteration 000012 OF")
    assert first["count"] == 2
    assert first["hit"] == {"number": 1, "line": "0.ao"}
    second = search(client, workload, text="iteration 000012 of", line="0.ao", go="next")
    assert second["hit"] == {"number": 2, "line": "2.ao"}
    again = search(client, workload, text="iteration 000012 of", line="2.ao", go="next")
    assert again["hit"]["number"] == 1
    back = search(client, workload, text="iteration 000012 of", line="2.ao", go="previous")
    assert back["hit"]["number"] == 1


def test_a_hit_is_shown_with_what_is_around_it(workload: Workload, client: Client) -> None:
    page = client.get(f"/workloads/{workload.pk}/logs/lines/?text=000012+of&line=0.ao")
    lines = page.content.decode()
    assert 'data-line="0.ao"' in lines
    assert "<mark>000012 of</mark>" in lines
    assert "iteration 000011 of many" in lines
    assert "iteration 000013 of many" in lines


def test_only_the_chosen_ranks_are_searched(workload: Workload, client: Client) -> None:
    assert search(client, workload, text="iteration", rank="2")["count"] == LINES
    assert search(client, workload, text="rank 0", rank="2")["hit"] is None
    assert search(client, workload, text="iteration", rank="1")["count"] == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [("iteration 00001", 20), ("iteration 00001 ", 0), (" 000001 ", 2), ("  ", 0)],
)
def test_spaces_at_the_ends_of_a_text_count(
    workload: Workload, client: Client, text: str, count: int
) -> None:
    assert search(client, workload, text=text)["count"] == count


def test_a_search_takes_a_moment_of_the_server_only(
    workload: Workload, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workloads.logs.views.SEARCH_SECONDS", 0)
    monkeypatch.setattr(choice, "SEARCH_SECONDS", 0)
    address = f"/workloads/{workload.pk}/logs/search/"
    answer = client.get(address, {"text": "iteration"}).json()
    assert 0 < answer["searched"] < answer["size"]
    # Nor do the lines alone that have it: an empty window says that there is more.
    window = client.get(f"/workloads/{workload.pk}/logs/lines/?text=iteration&only=on").content
    assert b"data-more" in window
    assert b"log-line" not in window


def test_only_lines_with_the_text_are_shown_from_all_of_the_log(
    workload: Workload, client: Client
) -> None:
    search(client, workload, text="000012 of")
    page = client.get(f"/workloads/{workload.pk}/logs/lines/?text=000012+of&only=on")
    assert page.content.decode().count('class="log-line"') == 2


ODD_QUERIES = (
    *("", "text=", "text=x&line=0.zzzzzz", "text=x&line=7.0", "text=x&line=0.0-2.0"),
    "text=a%0Ab",
)


def test_nonsense_is_no_error(workload: Workload, client: Client) -> None:
    for query in ODD_QUERIES:
        for part in ("search", "lines"):
            answer = client.get(f"/workloads/{workload.pk}/logs/{part}/?{query}")
            assert answer.status_code == 200, (part, query)


def test_strangers_find_nothing(workload: Workload, stranger: User) -> None:
    page = signed_in(stranger).get(f"/workloads/{workload.pk}/logs/search/?text=iteration")
    assert page.status_code == 404
