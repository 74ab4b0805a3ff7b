"""Queries that are put into SQL once answer as Django's do."""

from typing import Any, cast
from uuid import UUID

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Count, QuerySet
from django.test.utils import CaptureQueriesContext

from accounts.models import active
from core.database.prepared import prepared
from core.database.raw import marked
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory

pytestmark = pytest.mark.django_db


@prepared
def one_of(pk: int, cluster_id: UUID) -> QuerySet[Project]:
    rows = Project.objects.select_related("cluster", "department").defer("description")
    return rows.filter(pk=pk, cluster=cluster_id, cluster__kind="local").order_by()


def test_rows_are_those_that_django_would_make() -> None:
    project = ProjectFactory(default_node_pools=["a", "b"])
    other = ProjectFactory()
    ours = {pk: one_of(pk, cluster) for pk, cluster in _keys(project, other)}
    assert ours == {project.pk: [project], other.pk: [other]}
    (row,) = ours[project.pk]
    with CaptureQueriesContext(connection) as asked:
        assert (row.cluster.name, row.department.over_quota) == (project.cluster.name, True)
        assert row.default_node_pools == ["a", "b"]
        assert not asked
        assert (row.description, len(asked)) == ("", 1)


@prepared
def some_of(*pks: int, names: tuple[str, ...]) -> QuerySet[Project]:
    return Project.objects.filter(pk__in=pks, name__in=names).order_by("name")


def test_each_set_of_named_arguments_and_number_of_keys_has_a_query_of_its_own() -> None:
    one, two = ProjectFactory(name="one"), ProjectFactory(name="two")
    assert some_of(one.pk, two.pk, names=("one", "two")) == [one, two]
    assert some_of(two.pk, one.pk, names=("one", "three")) == [one]
    assert some_of(two.pk, names=("one", "three")) == []
    assert some_of(one.pk, names=()) == []


def test_a_key_that_no_row_has_gives_an_empty_list() -> None:
    project = ProjectFactory()
    for pk in (project.pk + 1, 2**63, 10**40, -1):
        assert one_of(pk, project.cluster_id) == []
    assert one_of(project.pk, UUID(int=0)) == []


def test_each_answer_is_as_the_rows_are_now() -> None:
    project = ProjectFactory()
    keys = project.pk, project.cluster_id
    assert one_of(*keys)[0].name == project.name
    Project.objects.filter(pk=project.pk).update(name="renamed")
    assert one_of(*keys)[0].name == "renamed"
    project.delete()
    assert one_of(*keys) == []


def _keys(*projects: Project) -> list[tuple[int, UUID]]:
    return [(project.pk, project.cluster_id) for project in projects]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite ends no connection")
def test_the_first_question_of_a_request_opens_a_connection_that_ended_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = UserFactory()
    assert active(user.pk) == [user]
    number = connection.connection.info.backend_pid
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [number])
    own = connections[DEFAULT_DB_ALIAS]  # the proxy would lose what is put back
    monkeypatch.setattr(own, "health_check_enabled", True)
    monkeypatch.setattr(own, "health_check_done", False)
    assert active(user.pk) == [user]
    assert connection.connection.info.backend_pid != number


def test_a_percent_sign_before_an_s_is_no_place_of_a_value() -> None:
    sql = "a LIKE '%%s%%' AND b = %s AND c = %s"
    assert marked(sql, "postgresql") == "a LIKE '%s%' AND b = $1 AND c = $2"
    assert marked(sql, "sqlite") == "a LIKE '%s%' AND b = ? AND c = ?"


@prepared
def counted(*pks: int) -> QuerySet[Project]:
    return Project.objects.filter(pk__in=pks).annotate(count=Count("workloads")).only("pk")


def test_a_row_has_what_the_query_counted() -> None:
    held, empty = WorkloadFactory().project, ProjectFactory()
    counts = {row.pk: row.count for row in cast(list[Any], counted(held.pk, empty.pk))}
    assert counts == {held.pk: 1, empty.pk: 0}
