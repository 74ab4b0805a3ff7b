"""From events to deliveries: each once, none lost."""

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from notifications.delivery import outbox
from notifications.models import Delivery, EventCursor, Webhook
from spec.phases import Phase
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.notifications.factories import WebhookFactory
from workloads.history import events
from workloads.models import Event, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def workload() -> Workload:
    return WorkloadFactory(name="train", running=True)


def listening(**traits: object) -> Webhook:
    outbox.begin()
    return WebhookFactory(**traits)


def types_for(webhook: Webhook) -> list[str]:
    return [it.type for it in webhook.deliveries.order_by("event")]


def test_a_change_of_phase_becomes_a_message_with_what_happened(workload: Workload) -> None:
    webhook = listening()
    user = UserFactory(username="ada")
    events.record_phase(workload, message="It was asked to.", actor=user, verb="stop")
    assert outbox.create_deliveries() == 1
    (delivery,) = webhook.deliveries.all()
    said = json.loads(delivery.body)
    assert (delivery.type, delivery.subject) == ("workload.running", "train")
    assert said["type"] == "workload.running"
    assert said["data"] | {"version": 0} == {
        "id": str(workload.pk),
        "name": "train",
        "type": "distributed",
        "projectId": str(workload.project_id),
        "projectName": workload.project.name,
        "clusterId": str(workload.cluster_id),
        "phase": "Running",
        "reason": "",
        "message": "It was asked to.",
        "actor": "ada",
        "version": 0,
    }


def test_an_event_is_told_once_however_often_anyone_looks(workload: Workload) -> None:
    webhook = listening()
    events.record_phase(workload)
    assert (outbox.create_deliveries(), outbox.create_deliveries()) == (1, 0)
    events.record_phase(workload)
    assert outbox.create_deliveries() == 1
    assert len(types_for(webhook)) == 2


def test_an_event_that_is_taken_back_was_never_there(workload: Workload) -> None:
    webhook = listening()
    with transaction.atomic():
        events.record_phase(workload)
        transaction.set_rollback(True)
    assert outbox.create_deliveries() == 0
    assert not webhook.deliveries.exists()


def test_a_webhook_is_told_of_its_events_and_its_scope_alone(workload: Workload) -> None:
    project = workload.project
    failed = listening(events=["workload.failed", "workload.completed"])
    own = listening(of_project=True, project=project)
    other = listening(of_project=True, project=ProjectFactory())
    department = listening(
        scope="department", department=project.department, cluster=project.cluster
    )
    cluster = listening(scope="cluster", cluster=ProjectFactory().cluster)
    off = listening(enabled=False)
    events.record_phase(workload)
    events.record_note(workload, "A change of no phase.", source="engine")
    workload.phase = Phase.FAILED
    events.record_phase(workload)
    outbox.create_deliveries()
    assert types_for(failed) == ["workload.failed"]
    assert types_for(own) == types_for(department) == ["workload.running", "workload.failed"]
    assert types_for(other) == types_for(cluster) == types_for(off) == []


def test_events_before_a_webhook_listened_are_not_told(workload: Workload) -> None:
    events.record_phase(workload)
    webhook = listening()
    assert outbox.create_deliveries() == 0
    later = listening(listens_since=timezone.now() + timedelta(minutes=1))
    events.record_phase(workload)
    outbox.create_deliveries()
    assert (len(types_for(webhook)), len(types_for(later))) == (1, 0)


def test_an_event_that_is_committed_after_later_ones_is_told_as_well(workload: Workload) -> None:
    webhook = listening()
    events.record_phase(workload)
    outbox.create_deliveries()
    last = EventCursor.objects.get().position
    slow = Event(pk=last + 1, workload=workload, phase=Phase.COMPLETED)
    Event.objects.create(pk=last + 3, workload=workload, phase=Phase.FAILED)
    assert outbox.create_deliveries() == 1
    slow.save(force_insert=True)
    assert (outbox.create_deliveries(), outbox.create_deliveries()) == (1, 0)
    assert types_for(webhook)[1:] == ["workload.completed", "workload.failed"]
    cursor = EventCursor.objects.get()
    late = [number for number, _ in cursor.late]
    assert late[-1:] == [last + 2], "sequences may begin above 1, so there may be others"
    cursor.late = [[last + 2, (timezone.now() - timedelta(hours=2)).isoformat()]]
    cursor.save()
    outbox.create_deliveries()
    assert EventCursor.objects.get().late == [], "no transaction is open that long"


def test_many_events_are_told_in_several_transactions(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening()
    monkeypatch.setattr(outbox, "BATCH_SIZE", 2)
    for _ in range(5):
        events.record_phase(workload)
    assert outbox.create_deliveries() == 5
    assert Delivery.objects.count() == 5
