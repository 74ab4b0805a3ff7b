"""Which ranks are shown: all, none, one alone, ranges."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from workloads import logs
from workloads.models import Rank, Workload

RANKS = 64


@pytest.fixture(autouse=True)
def output(workload: Workload, settings: Settings, tmp_path: Path) -> None:
    settings.LOG_STORE = tmp_path
    for rank in range(3, RANKS):
        Rank.objects.create(workload=workload, rank=rank, role="worker", index=rank - 1)
    for rank in range(RANKS):
        logs.append(logs.Stream(workload.pk, 1, 0, rank), b"printed by rank %d.\n" % rank)


def page(client: Client, workload: Workload, query: str) -> str:
    return client.get(f"/workloads/{workload.pk}/logs/?{query}").content.decode()


def shown(client: Client, workload: Workload, query: str) -> list[int]:
    lines = client.get(f"/workloads/{workload.pk}/logs/lines/?{query}").content.decode()
    return [rank for rank in range(RANKS) if f"printed by rank {rank}." in lines]


@pytest.mark.parametrize(
    ("query", "ranks"),
    [
        ("", list(range(RANKS))),
        ("ranks=all", list(range(RANKS))),
        ("ranks=none", []),
        ("ranks=0-3,8", [0, 1, 2, 3, 8]),
        ("ranks=+8+,+60+-+99,8,", [8, 60, 61, 62, 63]),
        ("rank=8", [8]),
        ("rank=8&rank=9&ranks=", [8, 9]),
        ("rank=8&ranks=3", [3]),
        ("ranks=", []),
    ],
)
def test_ranks_are_chosen_by_ranges(
    workload: Workload, client: Client, query: str, ranks: list[int]
) -> None:
    assert shown(client, workload, query) == ranks
    content = page(client, workload, query)
    ticked = [n for n in range(RANKS) if f'value="{n}"' in content and _is_ticked(content, n)]
    assert ticked == ranks


def _is_ticked(content: str, rank: int) -> bool:
    box = content[content.index(f'id="log-rank-{rank}"') :]
    return "checked" in box[: box.index(">")]


def test_the_address_says_the_ranks_in_short(workload: Workload, client: Client) -> None:
    assert "ranks=0-3%2C8&quot;" not in page(client, workload, "")
    assert 'data-query="try=1-0&amp;ranks=0-3%2C8"' in page(client, workload, "ranks=8,0,1,2,3")
    assert 'data-query="try=1-0"' in page(client, workload, "ranks=0-63")
    assert "Ranks 0-3,8\n    (5 of 64)" in page(client, workload, "ranks=0-3,8")


def test_a_name_shows_its_rank_alone(workload: Workload, client: Client) -> None:
    content = page(client, workload, "text=printed")
    assert '?try=1-0&amp;ranks=8&amp;text=printed"' in content
    assert 'title="Show only worker-7 (rank 8)">8: worker-7</a>' in content


@pytest.mark.parametrize(
    ("query", "refused", "ranks"),
    [("ranks=64", "64", []), ("ranks=1,x-2,9-", "x-2, 9-", [1]), ("ranks=3-1", "3-1", [])],
)
def test_a_rank_that_there_is_not_is_named(
    workload: Workload, client: Client, query: str, refused: str, ranks: list[int]
) -> None:
    assert f"Rank not found: {refused}.\n  Enter 0 to 63." in page(client, workload, query)
    assert shown(client, workload, query) == ranks


def test_few_ranks_need_no_menu(workload: Workload, client: Client) -> None:
    workload.ranks.filter(rank__gt=2).delete()
    content = page(client, workload, "")
    assert "data-log-ranks" not in content
    assert 'title="Show only worker-0 (rank 1)">worker-0</a>' in content
    assert shown(client, workload, "rank=1&ranks=") == [1]
    assert shown(client, workload, "ranks=") == []
