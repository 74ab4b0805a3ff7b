"""Every few seconds: look at the rows on level, and ask again for whatever is overdue.

This is what makes a lost message, a killed worker or a dead broker harmless.
"""

from datetime import timedelta

from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.utils import timezone

from clusters import testing
from clusters.models import Cluster, State
from spec.phases import Phase, Reason
from workloads import logs, outbox, services
from workloads.models import Workload

OVERDUE = timedelta(seconds=5)
DELETED_RETENTION = timedelta(days=14)
AT_ONCE = 100  # rows of one sweep; the next one goes on


STATISTICS_SECONDS = 600


def sweep() -> None:
    for cluster in Cluster.objects.all():
        outbox.monitor(cluster.pk)
        if not cluster.capabilities.queues:
            outbox.admit(cluster.pk)
        elif cluster.state != State.DISCONNECTED:
            outbox.hand_over(cluster.pk)
    _ask_again()
    _delete_due()
    prune()
    if cache.add("workloads-statistics", 1, STATISTICS_SECONDS):
        refresh_statistics()


def _ask_again() -> None:
    """Not of a cluster that is known to be silent: each call would hold a thread until it times
    out, and the monitor, which notices that the cluster is back, needs one."""
    overdue = Workload.objects.filter(
        phase_updated_at__lt=timezone.now() - OVERDUE, deleted_at=None
    ).exclude(cluster__state=State.DISCONNECTED)
    asked = overdue.filter(phase__in=[Phase.CREATING, Phase.RESUMING])
    for workload in asked.select_related("cluster"):
        outbox.submit(workload)
    unseen = overdue.filter(phase=Phase.INITIALIZING, observed_run__lt=F("run"))
    for pk in unseen.values_list("pk", flat=True):
        outbox.launch(pk)
    for pk in overdue.filter(phase=Phase.STOPPING).values_list("pk", flat=True):
        outbox.stop(pk)
    for pk in overdue.filter(phase=Phase.DELETING).values_list("pk", flat=True):
        outbox.delete(pk)


def _delete_due() -> None:
    due = Workload.objects.filter(auto_delete_at__lte=timezone.now(), deleted_at=None)
    for workload in due.exclude(phase=Phase.DELETING)[:AT_ONCE]:
        services.delete(workload, by=None, reason=Reason.AUTO_DELETED)


def prune() -> None:
    """Forget workloads that were deleted two weeks ago, with their events and samples, and old
    tests of connections.

    Their logs went with them, but for a piece that was being collected at that very moment.
    """
    before = timezone.now() - DELETED_RETENTION
    for workload in Workload.objects.filter(deleted_at__lt=before)[:AT_ONCE]:
        logs.remove(workload.pk)
        workload.delete()
    testing.prune()


def refresh_statistics() -> None:
    """Tell SQLite how its rows are spread, or it picks indexes blindly."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA analysis_limit = 1000")  # a sample of each index will do
        cursor.execute(f"ANALYZE {connection.ops.quote_name(Workload._meta.db_table)}")
