"""Look at all rows every few seconds, and send overdue tasks again.

This makes lost messages, killed workers and broker outages harmless.
"""

from datetime import timedelta

from django.core.cache import cache
from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from clusters import connection_tests
from clusters.models import Cluster, State
from spec.phases import Phase, Reason
from workloads import enqueue, logs, services
from workloads.models import Workload
from workloads.models.retention import expired_filter
from workloads.scheduling.limits import idle_limits, rule_limits, time_limits
from workloads.scheduling.order import decisions
from workloads.worker import collect

OVERDUE = timedelta(seconds=5)
LOGS_LATE = timedelta(minutes=10)  # how long an auto-deletion waits for the last output
AT_ONCE = 100  # rows per sweep; the next one continues
DECISIONS_SECONDS = 60
IDLE_SECONDS = 30
STATISTICS_SECONDS = 600


def sweep() -> None:
    for cluster in Cluster.objects.all():
        enqueue.monitor(cluster.pk)
        if not cluster.capabilities.queues:
            enqueue.queue_up(cluster.pk)
        elif cluster.state != State.DISCONNECTED:
            enqueue.hand_over(cluster.pk)
    _resend_overdue()
    time_limits.stop_over_limit()
    rule_limits.enforce_time_limits()
    if cache.add("idle-workloads", 1, IDLE_SECONDS):
        idle_limits.stop_idle_workspaces()
        rule_limits.enforce_idle_limits()
    _delete_due()
    prune()
    if cache.add("admission-decisions", 1, DECISIONS_SECONDS):
        decisions.prune(timezone.now())
    if cache.add("workloads-statistics", 1, STATISTICS_SECONDS):
        refresh_statistics()


def _resend_overdue() -> None:
    """Send overdue tasks again, except for disconnected clusters: such calls would block threads
    until they time out, and the monitor needs one to notice that the cluster is back. Dispatch was
    already requested for each cluster."""
    overdue = Workload.objects.filter(
        phase_updated_at__lt=timezone.now() - OVERDUE, deleted_at=None
    ).exclude(cluster__state=State.DISCONNECTED)
    unseen = overdue.filter(phase=Phase.INITIALIZING, observed_run__lt=F("run"))
    for pk in unseen.values_list("pk", flat=True):
        enqueue.launch(pk)
    for pk in overdue.filter(phase=Phase.STOPPING).values_list("pk", flat=True):
        enqueue.stop(pk)
    for pk in overdue.filter(phase=Phase.DELETING).values_list("pk", flat=True):
        enqueue.delete(pk)


def _delete_due() -> None:
    """Delete workloads that are due, once their output is stored or has been waited for long
    enough."""
    now = timezone.now()
    due = Workload.objects.filter(auto_delete_at__lte=now, deleted_at=None)
    is_collected = Q(logs_complete=True) | Q(auto_delete_at__lte=now - LOGS_LATE)
    for workload in due.filter(is_collected).exclude(phase=Phase.DELETING)[:AT_ONCE]:
        services.delete(workload, by=None, reason=Reason.AUTO_DELETED)


def prune() -> None:
    """Remove deleted workloads whose retention is over, with all their data, and old connection
    tests."""
    now = timezone.now()
    collected = Workload.objects.filter(deleted_at__lte=now - collect.AFTER_DELETION)
    collected.filter(logs_complete=False).update(logs_complete=True)
    for workload in Workload.objects.filter(expired_filter(now), logs_complete=True)[:AT_ONCE]:
        logs.remove(workload.pk)
        workload.delete()
    connection_tests.prune()


def refresh_statistics() -> None:
    """Update SQLite's statistics; without them it chooses indexes blindly."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA analysis_limit = 1000")  # a sample of each index will do
        cursor.execute(f"ANALYZE {connection.ops.quote_name(Workload._meta.db_table)}")
