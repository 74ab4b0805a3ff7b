"""From events to what people are told: whose, of which kinds, and nothing of others."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from accounts.models import User
from core.broker import stream
from notifications.delivery import outbox, rounds
from notifications.models import Notification
from spec.phases import Phase, Reason
from tests.factories import (
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    add_members,
    remove_members,
)
from tests.notifications.factories import SubscriptionFactory
from workloads.history import events
from workloads.models import Event, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def workload() -> Workload:
    outbox.begin()
    return WorkloadFactory(name="train", running=True)


def change(workload: Workload, phase: Phase, **said: Any) -> None:
    workload.phase = phase
    workload.save()
    events.record_phase(workload, **said)
    rounds.run()


def told(user: User | None) -> list[str]:
    return [
        notification.type for notification in Notification.objects.filter(user=user).order_by("pk")
    ]


def test_people_are_told_of_their_own_workloads_without_any_choice(workload: Workload) -> None:
    change(workload, Phase.RUNNING)
    change(workload, Phase.FAILED, reason=Reason.RANK_FAILED, message="Rank 1 exited with 1.")
    (notification,) = Notification.objects.all()
    assert (notification.user, notification.type, notification.title) == (
        workload.created_by,
        "workload.failed",
        "train failed",
    )
    assert (notification.text, notification.read_at) == ("Rank 1 exited with 1.", None)


def test_an_event_is_told_once_even_with_several_subscriptions(workload: Workload) -> None:
    SubscriptionFactory(user=workload.created_by)
    SubscriptionFactory(user=workload.created_by, project=workload.project)
    change(workload, Phase.COMPLETED)
    rounds.run()
    assert told(workload.created_by) == ["workload.completed"]


def test_a_subscription_limits_kinds_and_events(workload: Workload) -> None:
    owner = workload.created_by
    SubscriptionFactory(user=owner, events=["workload.failed"], kinds=["distributed"])
    change(workload, Phase.COMPLETED)
    assert told(owner) == []
    workspace = WorkloadFactory(workspace=True, project=workload.project, created_by=owner)
    change(workspace, Phase.FAILED)
    assert told(owner) == []
    other = WorkloadFactory(project=workload.project, created_by=owner, running=True)
    change(other, Phase.FAILED)
    assert told(owner) == ["workload.failed"]


def test_members_are_told_of_a_project_only_while_they_may_see_it(workload: Workload) -> None:
    member = UserFactory()
    add_members(workload.project, member)
    SubscriptionFactory(user=member, project=workload.project)
    SubscriptionFactory(user=UserFactory(), project=workload.project)
    change(workload, Phase.FAILED)
    assert Notification.objects.exclude(user=workload.created_by).get().user == member
    assert Notification.objects.visible_to(member).count() == 1
    remove_members(workload.project, member)
    change(workload, Phase.FAILED)
    assert told(member) == ["workload.failed"]
    assert not Notification.objects.visible_to(User.objects.get(pk=member.pk)).exists()


def test_nobody_is_told_of_what_they_did_themselves(workload: Workload) -> None:
    change(workload, Phase.STOPPED, actor=workload.created_by, verb="stop")
    assert told(workload.created_by) == []
    change(workload, Phase.STOPPED, actor=UserFactory(), verb="stop")
    assert told(workload.created_by) == ["workload.stopped"]


def test_a_workload_starts_once_however_often_it_degrades(workload: Workload) -> None:
    SubscriptionFactory(user=workload.created_by, events=["workload.started"])
    for phase in (Phase.PENDING, Phase.RUNNING, Phase.DEGRADED, Phase.RUNNING):
        change(workload, phase)
    assert told(workload.created_by) == ["workload.started"]
    change(workload, Phase.PENDING, reason=Reason.PREEMPTED)
    change(workload, Phase.RUNNING)
    assert told(workload.created_by) == ["workload.started"] * 2


@pytest.mark.parametrize(
    ("phase", "reason", "expected"),
    [
        (Phase.FAILED, Reason.DEADLINE_EXCEEDED, "workload.stopped-by-rule"),
        (Phase.STOPPED, Reason.IDLE, "workload.stopped-by-rule"),
        (Phase.PENDING, Reason.PREEMPTED, "workload.preempted"),
        (Phase.FAILED, Reason.PREEMPTED, "workload.preempted"),
        (Phase.STOPPED, Reason.STOPPED_BY_USER, "workload.stopped"),
    ],
)
def test_a_notification_has_the_narrowest_type_of_its_event(
    workload: Workload, phase: Phase, reason: Reason, expected: str
) -> None:
    change(workload, phase, reason=reason)
    assert told(workload.created_by) == [expected]


def test_the_warning_of_a_rule_is_told_before_its_stop(workload: Workload) -> None:
    text = "It will be stopped in 15 minutes, at the time limit of project vision, 2 hours."
    events.record_once(workload, text, reason=Reason.WILL_STOP_BY_RULE, key="limit")
    rounds.run()
    notification = Notification.objects.get()
    assert (notification.type, notification.text) == ("workload.will-stop-by-rule", text)
    assert notification.title == f"{workload.name} will be stopped by a rule"


def test_who_wants_to_hear_nothing_hears_nothing(workload: Workload) -> None:
    SubscriptionFactory(user=workload.created_by, events=[])
    change(workload, Phase.FAILED)
    assert told(workload.created_by) == []


def test_old_events_are_no_news(workload: Workload) -> None:
    Event.objects.create(
        workload=workload, phase=Phase.FAILED, at=timezone.now() - timedelta(days=2)
    )
    rounds.run()
    assert told(workload.created_by) == []


def test_deactivated_people_are_told_nothing(workload: Workload) -> None:
    follower = UserFactory(is_active=False)
    add_members(workload.project, follower)
    SubscriptionFactory(user=follower, project=workload.project)
    assert workload.created_by
    workload.created_by.is_active = False
    workload.created_by.save()
    change(workload, Phase.FAILED)
    assert not Notification.objects.exists()


def test_open_pages_of_the_person_alone_are_told(
    workload: Workload,
    valkey: redis.Redis,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published: list[tuple[str, ...]] = []
    monkeypatch.setattr(stream, "publish", lambda *words: published.append(words))
    events.record_phase(workload)
    Event.objects.create(workload=workload, phase=Phase.FAILED)
    with django_capture_on_commit_callbacks(execute=True):
        rounds.run()
    assert published == [(f"person:{workload.created_by_id}", "notifications")]


def test_many_people_cost_no_query_each_for_an_event(
    workload: Workload, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    project = ProjectFactory()
    for user in UserFactory.create_batch(5):
        add_members(project, user)
        SubscriptionFactory(user=user, project=workload.project)
    Event.objects.bulk_create(Event(workload=workload, phase=Phase.FAILED) for _ in range(20))
    with django_assert_max_num_queries(30):
        outbox.create_deliveries()
    assert len(told(workload.created_by)) == 20
