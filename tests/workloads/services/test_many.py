"""Stopping and deleting many at once: little for each, and each on its own."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from audit.models import AuditEntry
from projects.models import Project
from spec.phases import Phase
from tests.factories import WorkloadFactory, add_members
from tests.workloads.gangs import now
from workloads import services
from workloads.models import Event, Workload

Verb = Callable[..., services.Refusals]
VERBS: dict[str, tuple[Verb, Phase]] = {
    "stop": (services.stop_all, Phase.STOPPING),
    "delete": (services.delete_all, Phase.DELETING),
}


def running(count: int, project: Project) -> list[Workload]:
    rows: list[Workload] = WorkloadFactory.create_batch(count, project=project, running=True)
    return rows


@pytest.mark.parametrize("verb", VERBS)
def test_each_workload_of_a_batch_has_an_event_and_audit_entry(
    verb: str, project: Project, member: User
) -> None:
    act, to = VERBS[verb]
    add_members(project, member)
    rows = running(5, project)
    assert act([*rows, rows[0]], by=member) == {}, "one that is named twice is taken once"
    assert {now(it).phase for it in rows} == {to}
    told = Event.objects.filter(verb=verb, actor=member, phase=to)
    assert sorted(told.values_list("workload", flat=True)) == sorted(it.pk for it in rows)
    entries = AuditEntry.objects.filter(verb=verb, by=member)
    assert sorted(entries.values_list("target_id", flat=True)) == sorted(str(it.pk) for it in rows)


@pytest.mark.parametrize("verb", VERBS)
def test_another_workload_of_a_bulk_action_costs_one_statement(
    verb: str, project: Project, member: User
) -> None:
    add_members(project, member)
    few = running(2, project)
    many = running(40, project)
    costs = []
    for rows in (few, many):
        with CaptureQueriesContext(connection) as asked:
            VERBS[verb][0](rows, by=member)
        costs.append(len(asked))
    assert costs[1] - costs[0] <= len(many) - len(few)


def test_the_database_is_free_between_transactions_of_a_bulk_delete(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "WORKLOADS_PER_TRANSACTION", 2)
    add_members(project, member)
    rows = running(5, project)
    with CaptureQueriesContext(connection) as asked:
        services.delete_all(rows, by=member)
    begun = [it["sql"] for it in asked.captured_queries if it["sql"].startswith("SAVEPOINT")]
    assert len(begun) == 3, "2, 2 and 1"
    assert {now(it).phase for it in rows} == {Phase.DELETING}


def test_a_stop_of_many_refuses_by_name_those_that_changed_meanwhile(
    project: Project, member: User
) -> None:
    add_members(project, member)
    ended, gone, runs = running(3, project)
    Workload.objects.filter(pk=ended.pk).update(phase=Phase.COMPLETED)
    Workload.objects.filter(pk=gone.pk).delete()
    refused = services.stop_all([ended, gone, runs], by=member)
    assert set(refused) == {ended.pk, gone.pk}
    assert str(refused[ended.pk]) == f"{ended.name} is Completed; there is nothing to stop."
    assert gone.name in str(refused[gone.pk])
    assert now(runs).phase == Phase.STOPPING
