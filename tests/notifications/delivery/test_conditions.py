"""Conditions: found, told once while they last, and to whom."""

import json
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone

from clusters.models import Cluster, State
from notifications import tasks
from notifications.delivery import outbox, results
from notifications.delivery.post import HookAnswer
from notifications.models import Delivery, DeliveryState, Notification, ReportedCondition
from projects.models import Project
from spec.phases import Phase
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory, add_members
from tests.notifications.factories import SubscriptionFactory, WebhookFactory
from workloads.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
QUOTA = "project.quota-nearly-used"


@pytest.fixture
def project() -> Project:
    return ProjectFactory(name="vision", gpu_quota=4)


def pending(project: Project, minutes: int, **columns: Any) -> Workload:
    since = timezone.now() - timedelta(minutes=minutes, seconds=1)
    return WorkloadFactory(
        project=project, name="train", pending=True, phase_updated_at=since, **columns
    )


def told(user: Any) -> list[str]:
    return [row.type for row in Notification.objects.filter(user=user).order_by("pk")]


def test_a_workload_that_is_pending_for_long_is_told_once_per_wait(project: Project) -> None:
    workload = pending(project, 30)
    tasks.report_conditions()
    tasks.report_conditions()
    notification = Notification.objects.get()
    assert (notification.user, notification.workload) == (workload.created_by, workload)
    assert notification.title == "train is pending for long"
    workload.phase = Phase.RUNNING
    workload.save()
    tasks.report_conditions()
    assert not ReportedCondition.objects.exists()
    workload.phase = Phase.PENDING
    workload.save()
    tasks.report_conditions()
    assert Notification.objects.count() == 2


def test_each_person_chooses_how_long_is_long(project: Project) -> None:
    patient, hasty = UserFactory.create_batch(2)
    add_members(project, patient, hasty)
    SubscriptionFactory(user=patient, project=project, pending_minutes=60)
    SubscriptionFactory(user=hasty, project=project, pending_minutes=5)
    workload = pending(project, 10)
    tasks.report_conditions()
    assert (told(patient), told(hasty)) == ([], ["workload.pending-long"])
    Workload.objects.filter(pk=workload.pk).update(
        phase_updated_at=timezone.now() - timedelta(minutes=61)
    )
    tasks.report_conditions()
    assert (told(patient), len(told(hasty))) == (["workload.pending-long"], 1)


def test_a_quota_is_told_again_only_after_it_was_free(project: Project) -> None:
    lead = UserFactory()
    add_members(project, lead)
    SubscriptionFactory(user=lead, project=project, events=[QUOTA])
    workload = WorkloadFactory(project=project, running=True, gpus=3.5)
    tasks.report_conditions()
    assert told(lead) == []
    for gpus, times in ((3.6, 1), (3.3, 1), (3.8, 1), (3.0, 1), (3.9, 2)):
        Workload.objects.filter(pk=workload.pk).update(gpus=gpus)
        tasks.report_conditions()
        assert len(told(lead)) == times, gpus
    assert Notification.objects.latest("pk").text == "GPUs: 3.9 of 4"


def test_a_cluster_that_is_down_is_told_to_those_who_use_it(project: Project) -> None:
    workload = WorkloadFactory(project=project, running=True)
    follower = UserFactory()
    other = ProjectFactory(cluster=project.cluster, members=[follower])
    SubscriptionFactory(user=follower, project=other)
    ended = WorkloadFactory(project=project, completed=True)
    Cluster.objects.filter(pk=project.cluster_id).update(
        state=State.DISCONNECTED, state_message="No route to host."
    )
    tasks.report_conditions()
    assert told(workload.created_by) == told(follower) == ["cluster.disconnected"]
    assert told(ended.created_by) == []
    notification = Notification.objects.get(user=follower)
    assert (notification.project, notification.text) == (other, "No route to host.")


def test_webhooks_carry_conditions_in_their_scope(project: Project) -> None:
    own = WebhookFactory(of_project=True, project=project)
    other = WebhookFactory(of_project=True, project=ProjectFactory(), events=[QUOTA])
    account = WebhookFactory(events=["cluster.disconnected"])
    workload = pending(project, 31)
    WorkloadFactory(project=project, running=True, gpus=4)
    Cluster.objects.filter(pk=project.cluster_id).update(state=State.DISCONNECTED)
    tasks.report_conditions()
    assert {row.type for row in own.deliveries.all()} == {"workload.pending-long", QUOTA}
    assert [row.type for row in account.deliveries.all()] == ["cluster.disconnected"]
    assert not other.deliveries.exists()
    said = json.loads(own.deliveries.get(type="workload.pending-long").body)
    assert said["data"]["id"] == str(workload.pk)
    assert said["data"]["message"]


def test_a_webhook_hears_of_a_pending_workload_after_its_own_wait(project: Project) -> None:
    hasty = WebhookFactory(of_project=True, project=project, pending_minutes=5)
    usual = WebhookFactory(of_project=True, project=project, events=["workload.pending-long"])
    workload = pending(project, 10)
    tasks.report_conditions()
    assert [row.type for row in hasty.deliveries.all()] == ["workload.pending-long"]
    assert not usual.deliveries.exists()
    workload.phase_updated_at -= timedelta(minutes=25)
    workload.save()
    tasks.report_conditions()
    assert (hasty.deliveries.count(), usual.deliveries.count()) == (1, 1)


def test_a_failed_message_about_a_condition_is_tried_again(project: Project) -> None:
    WebhookFactory(events=[QUOTA])
    WorkloadFactory(project=project, running=True, gpus=4)
    tasks.report_conditions()
    delivery = Delivery.objects.get()
    delivery.attempts = 1
    results.record(delivery, HookAnswer(status=500, fault="The receiver answered 500."))
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.PENDING
    assert delivery.next_try_at is not None


def test_one_worker_looks_at_a_time(project: Project, valkey: redis.Redis) -> None:
    pending(project, 30)
    valkey.set("lease:conditions", "another")
    tasks.report_conditions()
    assert not Notification.objects.exists()


def test_narrow_events_reach_webhooks_that_chose_them(project: Project) -> None:
    outbox.begin()
    narrow = WebhookFactory(events=["workload.preempted", "workload.started"])
    every = WebhookFactory()
    workload = WorkloadFactory(project=project, running=True)
    workload.events.create(phase=Phase.RUNNING)
    workload.events.create(phase=Phase.PENDING, reason="Preempted")
    outbox.create_deliveries()
    types = [row.type for row in narrow.deliveries.order_by("event")]
    assert types == ["workload.started", "workload.preempted"]
    wide = [row.type for row in every.deliveries.order_by("event")]
    assert wide == ["workload.running", "workload.pending"]
