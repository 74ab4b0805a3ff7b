"""A row is drawn once for all who watch it, and anew whenever it looks otherwise."""

from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string

from accounts.models import User
from projects.models import Project
from tests.factories import UserFactory, WorkloadFactory, add_members
from tests.web import signed_in
from workloads.models import Workload
from workloads.table import page
from workloads.table.columns import format_figure


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[page.Row]:
    """The rows that were drawn, as often as they were."""
    rows: list[page.Row] = []

    def draw(template: str, context: dict[str, Any]) -> str:
        rows.append(context["row"])
        return render_to_string(template, context)

    monkeypatch.setattr(page, "render_to_string", draw)
    page.render_row.cache_clear()
    return rows


@pytest.fixture
def colleagues(project: Project) -> list[User]:
    people = UserFactory.create_batch(2)
    add_members(project, *people)
    return people


@pytest.fixture
def ended(project: Project, member: User) -> Workload:
    return WorkloadFactory.create(project=project, name="digits", completed=True, created_by=member)


def row_of(workload: Workload, user: User, query: str = "") -> str:
    address = f"/workloads/rows/?ids={workload.pk}{query}"
    return signed_in(user).get(address).content.decode().partition("<tbody")[2]


def test_a_row_is_drawn_once_for_all_who_see_the_same(
    ended: Workload, colleagues: list[User], drawn: list[page.Row]
) -> None:
    first, second = (row_of(ended, user) for user in colleagues)
    assert first == second
    assert "digits" in first
    assert len(drawn) == 1


def test_the_author_sees_that_it_is_theirs(
    ended: Workload, member: User, colleagues: list[User]
) -> None:
    assert "data-mine" in row_of(ended, member)
    assert "data-mine" not in row_of(ended, colleagues[0])


@pytest.mark.parametrize(
    "change",
    [
        {"message": "out of memory"},
        {"phase": "Failed"},
        {"failure_class": "cuda-out-of-memory"},
        {"last_metrics": {"step": 9}},
        {"running_seconds": 7200},
        {"logs_complete": True},
        {"name": "letters"},
    ],
)
def test_a_row_that_looks_otherwise_is_drawn_anew(
    ended: Workload, member: User, change: dict[str, Any]
) -> None:
    before = row_of(ended, member)
    Workload.objects.filter(pk=ended.pk).update(**change)
    assert row_of(ended, member) != before


def test_a_row_shows_how_the_loss_went(ended: Workload, member: User) -> None:
    rows = Workload.objects.filter(pk=ended.pk)
    rows.update(last_metrics={"step": 2, "loss": 1.0}, curves={"loss": [[1, 2.0]]})
    assert "<polyline" not in row_of(ended, member)
    rows.update(curves={"loss": [[1, 2.0], [2, 1.0]]})
    assert '<polyline points="1.5,1.5 62.5,16.5"/>' in row_of(ended, member)


def test_other_columns_are_another_row(ended: Workload, member: User) -> None:
    plain = row_of(ended, member)
    Workload.objects.filter(pk=ended.pk).update(created_at=ended.created_at - timedelta(days=1))
    assert row_of(ended, member) != plain
    assert "Environment image" in row_of(ended, member, "&columns=name,image")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (123456789.0, "123456789"),
        (14790.5, "14790"),
        (1234.56, "1235"),
        (0.123456, "0.1235"),
        (1e30, "1e+30"),
    ],
)
def test_a_number_has_no_more_digits_than_are_known(value: float, text: str) -> None:
    assert format_figure(value) == text
