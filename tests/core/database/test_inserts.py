"""Rows that are written in one go are those that Django would have written."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.forms import model_to_dict
from django.test.utils import CaptureQueriesContext

from core.database.inserts import insert, insert_values, together, transaction_of_rows
from spec.phases import Phase
from tests.factories import WorkloadFactory
from workloads.models import Event, Rank, Workload

pytestmark = pytest.mark.django_db


def test_a_row_is_as_django_would_have_written_it() -> None:
    project = _workload().project
    spare = Workload(name="spare", project=project, cluster=project.cluster, num_pods=1)
    spare.spec_json = {"worker": {"image": "a"}}
    insert([spare])
    ours = Workload.objects.get(pk=spare.pk)
    assert not spare._state.adding
    assert model_to_dict(ours) == model_to_dict(spare)
    assert ours.created_at == spare.created_at


def test_many_rows_keep_their_order_and_their_odd_values() -> None:
    workload = _workload()
    messages = ["", "%s %(at)s", "'; --", "a \0 b", "ä" * 30_000]
    insert(Event(workload=workload, phase=Phase.RUNNING, message=text) for text in messages)
    kept = workload.events.order_by("pk").values_list("message", flat=True)
    assert list(kept)[-5:] == ["", "%s %(at)s", "'; --", "a \ufffd b", "ä" * 20_000]


def test_as_many_rows_as_a_gang_has_take_few_statements() -> None:
    workload = _workload()
    with CaptureQueriesContext(connection) as asked:
        insert(Rank(workload=workload, rank=n, role="worker", index=n) for n in range(513))
    assert workload.ranks.count() == 513
    assert len(asked) < 10
    insert([])


def test_a_row_that_the_database_refuses_is_an_error() -> None:
    workload = _workload()
    twins = [Rank(workload=workload, rank=1, role="worker", index=1) for _ in range(2)]
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(twins)
    assert not workload.ranks.exists()


def _insert_together(*tables: list[Any]) -> None:
    with together():
        for rows in tables:
            insert(rows)


def _workload() -> Workload:
    workload: Workload = WorkloadFactory()
    workload.ranks.all().delete()
    return workload


def test_rows_of_several_tables_go_together_in_their_order() -> None:
    workload = _workload()
    with CaptureQueriesContext(connection) as asked, together():
        insert([Rank(workload=workload, rank=0, role="worker", index=0)])
        insert(Event(workload=workload, phase=Phase.RUNNING, message=it) for it in ("50 %", "b"))
        assert not workload.ranks.exists()
    together_in = 1 if connection.vendor == "postgresql" else 2
    assert len([it for it in asked if "INSERT" in it["sql"]]) == together_in
    assert workload.ranks.count() == 1
    assert list(workload.events.order_by("pk").values_list("message", flat=True))[-2:] == [
        "50 %",
        "b",
    ]


def test_of_rows_that_go_together_one_that_is_refused_takes_all_back() -> None:
    workload = _workload()
    twins = [Rank(workload=workload, rank=1, role="worker", index=1) for _ in range(2)]
    event = Event(workload=workload, phase=Phase.RUNNING, message="first")
    with pytest.raises(IntegrityError), transaction.atomic():
        _insert_together([event], twins)
    assert not workload.events.filter(message="first").exists()
    with pytest.raises(AttributeError):
        _insert_together(twins, [None])
    assert not workload.ranks.exists(), "nothing of it was sent"
    insert(twins[:1])
    assert workload.ranks.count() == 1


@pytest.mark.django_db(transaction=True)
def test_rows_alone_are_taken_together_or_not_at_all() -> None:
    workload = _workload()
    events, twins = workload.events.count(), [Rank(rank=1, role="worker", index=1)] * 2
    for rank in twins:
        rank.workload = workload
    with pytest.raises(IntegrityError), transaction_of_rows():
        _insert_together([Event(workload=workload, phase=Phase.RUNNING)], twins)
    assert (workload.events.count(), workload.ranks.count()) == (events, 0)
    with CaptureQueriesContext(connection) as asked, transaction_of_rows():
        _insert_together([Event(workload=workload, phase=Phase.RUNNING)], twins[:1])
    assert (workload.events.count(), workload.ranks.count()) == (events + 1, 1)
    if connection.vendor == "postgresql":
        assert len(asked) == 1, "no begin and no commit"


@pytest.mark.parametrize("value", [None, True, False, 0, -5, 2**40, "", "%s", 1.5])
def test_a_value_without_quotes_is_the_same_in_its_place(value: Any) -> None:
    workload = _workload()
    with together():
        insert([Event(workload=workload, phase=Phase.RUNNING, message=str(value))])
        workload.last_metrics = {"value": value}
        insert([Workload(**_columns_of(workload))])
    copy = Workload.objects.get(name="copy")
    assert copy.last_metrics == {"value": value}
    assert workload.events.latest("pk").message == str(value)


def _columns_of(workload: Workload) -> dict[str, Any]:
    columns = {it.attname: getattr(workload, it.attname) for it in Workload._meta.concrete_fields}
    return columns | {"id": uuid4(), "name": "copy", "running_pods": 3, "observed_sequence": -5}


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TypeError, match="Rank has no workload"):
        insert_values(Rank, [{"workload": uuid4(), "rank": 0}])


def test_no_rows_are_nothing_to_do() -> None:
    insert([])
    insert_values(Rank, [])
    assert not Rank.objects.exists()


def test_rows_go_together_once() -> None:
    with together(), pytest.raises(RuntimeError, match="around it already"):
        together().__enter__()


def test_whoever_stands_around_statements_stands_around_rows_that_go_together() -> None:
    workload, statements = _workload(), list[str]()

    def watched(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(watched):
        _insert_together([Event(workload=workload, phase=Phase.RUNNING)])
    assert any(it.startswith("INSERT") for it in statements)
