"""What each filter lets through, and what it says when it makes no sense."""

from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from tests.factories import WorkloadFactory
from workloads.table.filters import Filter
from workloads.table.state import TableState


@pytest.fixture
def rows(project: Project, member: User) -> None:
    WorkloadFactory(
        name="alpha", project=project, created_by=member, running=True, gpus=2, memory_bytes=2e9
    )
    WorkloadFactory(
        name="beta", project=project, pending=True, gpus=0.5, image="other/image:1", num_pods=5
    )
    WorkloadFactory(
        name="gamma",
        project=project,
        failed=True,
        gpus=0,
        created_at=timezone.now() - timedelta(days=3),
    )


def names(query: str, user: User) -> str:
    found = TableState.parse(QueryDict(query)).workloads(user)
    return " ".join(found.order_by("name").values_list("name", flat=True))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("f=name:has:LPH", "alpha"),
        ("f=name:is:Beta", "beta"),
        ("f=name:not:beta", "alpha gamma"),
        ("f=name:starts:ga", "gamma"),
        ("f=status:is:Running|Pending", "alpha beta"),
        ("f=status:not:Failed", "alpha beta"),
        ("f=gpus:ge:0.5", "alpha beta"),
        ("f=gpus:le:0", "gamma"),
        ("f=gpus:eq:0.5", "beta"),
        ("f=memory:eq:2", "alpha"),
        ("f=pods:ge:4", "beta"),
        ("f=created:within:24 h", "alpha beta"),
        ("f=created:before:2020-01-01", ""),
        ("f=project:is:team-a&f=gpus:ge:1", "alpha"),
        ("f=creator:is:maria", "alpha"),
        ("f=creator:not:maria", "beta gamma"),
        ("f=image:has:other", "beta"),
        ("f=template:has:x", ""),
        ("q=gam", "gamma"),
        ("q=team-a", "alpha beta gamma"),
        ("q=maria", "alpha"),
        ("q=%25", ""),
    ],
)
def test_a_filter_lets_through(query: str, expected: str, rows: None, member: User) -> None:
    assert names(query, member) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing:is:1", "no column"),
        ("metrics:is:1", "no column"),
        ("gpus:has:1", "not a way to filter"),
        ("gpus:ge:two", "not a number"),
        ("gpus:ge:nan", "too large"),
        ("gpus:ge:1e300", "too large"),
        ("status:is:Sleeping", "not one of"),
        ("created:within:soon", "time span"),
        ("created:after:2026-13-45", "not a day"),
        ("created:after:tomorrow", "not a day"),
        ("name:has:", "Enter a value"),
        ("", "no column"),
    ],
)
def test_a_filter_that_makes_no_sense_says_why(text: str, problem: str, db: None) -> None:
    assert problem in Filter.parse(text).problem


def test_a_filter_that_makes_no_sense_is_shown_and_does_not_count(rows: None, member: User) -> None:
    assert names("f=gpus:ge:two", member) == "alpha beta gamma"


def test_the_state_of_the_table_survives_its_address() -> None:
    query = "q=a+b&f=status:is:Running|Failed&f=gpus:ge:1&sort=name&columns=name,status"
    assert TableState.parse(QueryDict(query)).query == query
