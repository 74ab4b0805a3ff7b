"""Walking the pages shows every row exactly once, whatever the order."""

import random
from datetime import timedelta
from uuid import UUID

import pytest
from django.http import QueryDict
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from spec.formats import documents
from spec.phases import Phase
from tests.factories import UserFactory, WorkloadFactory, workload_spec
from workloads.models import Workload
from workloads.table import page as paging
from workloads.table import state as states
from workloads.table.columns import COLUMNS
from workloads.table.state import TableState

SORTS = [sign + column.key for column in COLUMNS if column.can_sort_by for sign in ("", "-")]
ROWS = 47


@pytest.fixture
def rows(project: Project, monkeypatch: pytest.MonkeyPatch) -> set[UUID]:
    """Many equal values, and empty ones."""
    monkeypatch.setattr(states, "SIZES", (7, 50, 100, 200))
    draw = random.Random(7)  # noqa: S311 -- made-up rows, no secret
    now = timezone.now()
    people = [None, UserFactory(username="ada"), UserFactory(username="bob")]
    made = [
        Workload(
            name=f"w-{number:02}",
            project=project,
            cluster=project.cluster,
            created_by=draw.choice(people),
            spec_json=documents.dump_spec(workload_spec()),
            phase=draw.choice([Phase.RUNNING, Phase.COMPLETED]),
            framework=draw.choice(["PyTorch", "MPI"]),
            architecture="workers_only",
            image=draw.choice(["a:1", "b:1"]),
            num_pods=draw.choice([1, 3]),
            gpus=draw.choice([0, 0.3]),
            created_at=now - timedelta(minutes=draw.choice([1, 2, 3])),
            completed_at=draw.choice([None, now, now - timedelta(hours=1)]),
        )
        for number in range(ROWS)
    ]
    return {workload.pk for workload in Workload.objects.bulk_create(made)}


def walk(state: TableState, user: User) -> tuple[list[list[UUID]], TableState]:
    pages: list[list[UUID]] = []
    while True:
        page = paging.read_page(state, user)
        pages.append([row.id for row in page.rows])
        if page.following is None:
            return pages, state
        state = TableState.parse(QueryDict(page.following.query))


@pytest.mark.parametrize(
    "sorts", [SORTS[::5], pytest.param(SORTS, marks=pytest.mark.extended)], ids=["some", "all"]
)
def test_pages_by_keyset_show_every_row_once_forward_and_back(
    rows: set[UUID], member: User, sorts: list[str]
) -> None:
    for sort in sorts:
        pages, state = walk(TableState(sort=sort, size=7), member)
        seen = [pk for page in pages for pk in page]
        assert len(seen) == ROWS, sort
        assert set(seen) == rows, sort
        assert walk_back(state, member) == pages, sort


def walk_back(state: TableState, user: User) -> list[list[UUID]]:
    """Read the pages from the last one, which ``state`` describes, to the first."""
    pages: list[list[UUID]] = []
    while True:
        page = paging.read_page(state, user)
        pages.insert(0, [row.id for row in page.rows])
        if page.previous is None:
            return pages
        state = TableState.parse(QueryDict(page.previous.query))


@pytest.mark.parametrize("sort", ["name", "-gpus", "-created", "completed"])
def test_pages_by_keyset_come_in_the_order_that_was_asked_for(
    sort: str, rows: set[UUID], member: User
) -> None:
    state = TableState(sort=sort, size=7)
    seen = [pk for page in walk(state, member)[0] for pk in page]
    expected = state.workloads(member).order_by(*state.key.order).values_list("pk", flat=True)
    assert seen == list(expected)


def test_a_row_that_appears_meanwhile_shifts_no_other(rows: set[UUID], member: User) -> None:
    first = paging.read_page(TableState(size=7), member)
    assert first.following
    newest = Workload.objects.get(pk=first.rows[0].id)
    newest.pk = None
    newest.name = "late"
    newest.created_at = timezone.now()
    newest.save()
    second = paging.read_page(TableState.parse(QueryDict(first.following.query)), member)
    shown = {row.id for row in first.rows} & {row.id for row in second.rows}
    assert not shown


def test_the_count_stops_at_its_limit(
    rows: set[UUID], member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MOST_COUNTED", 20)
    assert paging.read_page(TableState(size=7), member).total == "20+"


@pytest.mark.parametrize("token", ["nonsense", "W10", "WzEsMl0", "x" * 5000, "é"])
def test_a_damaged_position_shows_the_first_page(token: str, rows: set[UUID], member: User) -> None:
    first = [row.id for row in paging.read_page(TableState(size=7), member).rows]
    shown = paging.read_page(TableState(after=token, size=7), member).rows
    assert [row.id for row in shown] == first


def test_a_page_has_as_many_rows_as_is_wanted(member: User, project: Project) -> None:
    WorkloadFactory.create_batch(60, project=project)
    for asked, rows_shown in (("100", 60), ("200", 60), ("7", 50), ("x", 50)):
        page = paging.read_page(TableState.parse(QueryDict(f"size={asked}&sort=name")), member)
        assert len(page.rows) == rows_shown, asked
        assert page.has_other_pages, asked
        if rows_shown < 60:
            assert page.following, asked
            following = paging.read_page(TableState.parse(QueryDict(page.following.query)), member)
            assert len(following.rows) == 10, asked
