"""Look for conditions that people and webhooks hear of: a workload that is pending for long, a
quota that is nearly used, and a cluster that does not answer.

A row keeps in mind that a condition was reported, until it ends. So each is reported once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from clusters.models import Cluster, State
from core.broker import enqueue
from core.broker.lease import hold_lease
from notifications import events
from notifications.delivery.audience import Audience, Recipient
from notifications.delivery.outbox import save_notifications
from notifications.models import (
    Delivery,
    Notification,
    ReportedCondition,
    Subscription,
    Webhook,
)
from projects.meters import Meter, meters
from projects.models import Project
from projects.pool_quotas import pool_names
from projects.quotas import Usage, quota_of, usage_of
from spec.parts.scheduling import DEFAULT_POOL
from spec.phases import WAITING
from workloads.history.events import NOTIFY
from workloads.models import Workload

#: The task that looks for conditions.
CONDITIONS = "notifications.conditions"
LEASE_SECONDS = 60.0
NEARLY_USED = 0.9  # of a quota
USED_NO_MORE = 0.8  # below this it may be reported again


@dataclass(frozen=True)
class FoundCondition:
    """A condition that holds now. ``key`` is the same while it lasts. ``minutes``: only for those
    who chose this time."""

    key: str
    type: str
    subject: str
    text: str
    cluster: Cluster
    project: Project | None = None
    workload: Workload | None = None
    minutes: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The data of a webhook's message."""
        if self.workload:
            state = {"phase": self.workload.phase, "reason": self.workload.reason}
            return events.workload_facts(self.workload) | state | {"message": self.text}
        cluster = {"clusterId": str(self.cluster.pk), "clusterName": self.cluster.name}
        project = self.project
        named = {"projectId": str(project.pk), "projectName": project.name} if project else {}
        return cluster | named | {"message": self.text}


def run() -> None:
    """Report the conditions that have begun. Does nothing if another worker is at it."""
    with hold_lease("conditions", seconds=LEASE_SECONDS) as extend:
        if extend is None:
            return
        audience = Audience()
        reported = set(ReportedCondition.objects.values_list("key", flat=True))
        current = {it.key: it for it in find_conditions(audience, reported)}
        ReportedCondition.objects.filter(key__in=reported - current.keys()).delete()
        begun = [it for key, it in current.items() if key not in reported]
        if begun:
            with transaction.atomic():
                _report(begun, audience)


def find_conditions(audience: Audience, reported: set[str]) -> Iterator[FoundCondition]:
    """Yield the conditions that hold now."""
    yield from _long_pending(_chosen_waits(audience.subscriptions))
    yield from _nearly_used_quotas(reported)
    for cluster in Cluster.objects.filter(state=State.DISCONNECTED):
        key = f"cluster:{cluster.pk}"
        yield FoundCondition(key, events.CLUSTER_DOWN, cluster.name, cluster.state_message, cluster)


def _chosen_waits(subscriptions: Iterable[Subscription]) -> list[int]:
    """Return the minutes after which anybody hears of a pending workload, the fewest first."""
    default = Subscription()  # that of people without any
    webhooks = Webhook.objects.filter(enabled=True)
    listeners = [default, *subscriptions, *webhooks]
    names = {events.PENDING_LONG, events.EVERY_EVENT}
    return sorted({it.pending_minutes for it in listeners if names.intersection(it.events)})


def _long_pending(waits: Sequence[int]) -> Iterator[FoundCondition]:
    now = timezone.now()
    rows = Workload.objects.filter(
        phase__in=WAITING,
        deleted_at=None,
        phase_updated_at__lte=now - timedelta(minutes=waits[0]),
    )
    for workload in rows.select_related("project", "cluster").defer("manifest_json"):
        for minutes in waits:
            if _has_waited(workload, minutes, now):
                yield FoundCondition(
                    f"pending:{workload.pk}:{workload.run}:{minutes}",
                    events.PENDING_LONG,
                    workload.name,
                    workload.message or f"It has been pending for {minutes} minutes.",
                    workload.cluster,
                    workload.project,
                    workload,
                    minutes,
                )


def _has_waited(workload: Workload, minutes: int, now: datetime) -> bool:
    return workload.phase_updated_at <= now - timedelta(minutes=minutes)


def _nearly_used_quotas(reported: set[str]) -> Iterator[FoundCondition]:
    projects = list(Project.objects.for_list())
    usage = usage_of(projects)
    for project in projects:
        for key, where, meter in _quota_meters(project, usage[project.pk]):
            limit = USED_NO_MORE if key in reported else NEARLY_USED
            if meter.total and meter.used >= limit * meter.total:
                yield FoundCondition(
                    key,
                    events.QUOTA,
                    project.name,
                    f"{meter.label}{where}: {meter.text}",
                    project.cluster,
                    project,
                )


def _quota_meters(project: Project, usage: Usage) -> Iterator[tuple[str, str, Meter]]:
    """Yield the meters of a project in each node pool: the key of the condition, the pool in words
    unless it is the default one, and the meter."""
    for pool in pool_names(project.cluster):
        is_default = pool == DEFAULT_POOL
        suffix = "" if is_default else f":{pool}"
        where = "" if is_default else f" in {pool}"
        for meter in meters(quota_of(project, pool), usage.in_pool(pool)):
            yield f"quota:{project.pk}:{meter.label}{suffix}", where, meter


def _report(begun: Iterable[FoundCondition], audience: Audience) -> None:
    ReportedCondition.objects.bulk_create(ReportedCondition(key=it.key) for it in begun)
    webhooks = list(Webhook.objects.filter(enabled=True))
    deliveries = [row for it in begun for row in _new_deliveries(it, webhooks)]
    if Delivery.objects.bulk_create(deliveries):
        enqueue.send_once(NOTIFY, None, enqueue.PERIODIC)
    save_notifications([row for it in begun for row in _new_notifications(it, audience)])


def _new_deliveries(condition: FoundCondition, webhooks: Iterable[Webhook]) -> Iterator[Delivery]:
    for webhook in webhooks:
        is_subscribed = events.subscribed_type(webhook, [condition.type])
        is_its_wait = condition.minutes in (None, webhook.pending_minutes)
        is_inside = events.is_in_scope(webhook, condition.cluster.pk, condition.project)
        if is_subscribed and is_its_wait and is_inside:
            yield Delivery(
                webhook=webhook,
                type=condition.type,
                subject=condition.subject,
                body=events.message_body(condition.type, timezone.now(), condition.facts),
            )


def _new_notifications(condition: FoundCondition, audience: Audience) -> Iterator[Notification]:
    for recipient, project in _recipients(condition, audience):
        yield recipient.notification(
            events.title(condition.type, condition.subject),
            text=condition.text,
            reason=condition.workload.reason if condition.workload else "",
            workload=condition.workload,
            project=project,
            cluster=condition.cluster,
        )


def _recipients(
    condition: FoundCondition, audience: Audience
) -> Iterator[tuple[Recipient, Project]]:
    """Yield who hears of a condition, and the project through which they may see it."""
    types = [condition.type]
    if condition.workload:
        workload = condition.workload
        for recipient in audience.of_workload(workload, types, minutes=condition.minutes):
            yield recipient, workload.project
        return
    active = Workload.objects.active().filter(cluster=condition.cluster)
    projects = Project.objects.filter(cluster=condition.cluster)
    if condition.project:
        active = active.filter(project=condition.project)
        projects = projects.filter(pk=condition.project.pk)
    owners = list(active.order_by().values_list("project", "created_by").distinct())
    heard = set[int]()
    for project in projects:
        people = {owner for project_id, owner in owners if project_id == project.pk}
        for recipient in audience.of_project(project, people, types):
            if recipient.user.pk not in heard:
                heard.add(recipient.user.pk)
                yield recipient, project
