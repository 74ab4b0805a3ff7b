"""Giving workloads to clusters that queue for themselves: many at once, and on level.

The rows say what there is to do, a message only says "look". So a thousand submissions need a few
messages, and a message that is lost costs the seconds until the next sweep.
"""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from clusters.engines import engine_for
from clusters.models import Cluster
from core.lease import lease
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable, Launch
from spec.phases import Phase
from workloads import outbox, reconcile
from workloads.models import Workload

log = logging.getLogger(__name__)

CALLS = 8  # to one cluster at the same time
AT_ONCE = 64  # workloads between two looks at the database
UNSEEN = timedelta(seconds=30)  # given and never seen there: once more, for twice is once
LEASE_SECONDS = 60.0  # longer than the slowest answers to one round


def hand_over(cluster: Cluster) -> None:
    """Give the cluster every workload that it should have. ``EngineUnavailable`` ends it early."""
    while waiting(cluster).exists():
        with lease(f"hand-over:{cluster.pk}", seconds=LEASE_SECONDS) as extend:
            if extend is None:
                return  # who holds it looks once more after giving it back
            with ThreadPoolExecutor(CALLS) as pool:
                while extend() and (some := list(waiting(cluster)[:AT_ONCE])):
                    _give(cluster, some, pool)
    outbox.monitor(cluster.pk)


def waiting(cluster: Cluster) -> QuerySet[Workload]:
    """What was asked to run and is not known to be there, first come first."""
    unseen = Q(handed_over_at__lt=timezone.now() - UNSEEN, observed_run__lt=F("run"))
    return (
        Workload.objects.filter(Q(handed_over_at=None) | unseen, cluster=cluster, deleted_at=None)
        .filter(phase__in=[Phase.CREATING, Phase.RESUMING])
        .select_related("project", "cluster", "created_by")
        .order_by("queued_at", "pk")
    )


def _give(cluster: Cluster, workloads: list[Workload], pool: ThreadPoolExecutor) -> None:
    """One round. The threads talk to the cluster and leave the database alone."""
    launches, readable = [], []
    for workload in workloads:
        try:
            launches.append(reconcile.launch_of(workload))
            readable.append(workload)
        except ValueError:  # a row that cannot be read must not stop the others
            log.exception("Workload %s cannot be given to %s", workload.pk, cluster)
    answers = list(pool.map(partial(_submit, engine_for(cluster)), launches))
    away = [answer for answer in answers if isinstance(answer, EngineUnavailable)]
    for workload, answer in zip(readable, answers, strict=True):
        if isinstance(answer, EngineRefused):
            reconcile.refused(workload, answer)
    late = {
        workload.pk for workload, answer in zip(readable, answers, strict=True) if answer in away
    }
    _note([workload for workload in workloads if workload.pk not in late])
    if away:
        raise away[0]


def _submit(engine: Engine, launch: Launch) -> EngineError | None:
    try:
        engine.submit(launch)
    except (EngineRefused, EngineUnavailable) as error:
        return error
    return None


def _note(given: Iterable[Workload]) -> None:
    Workload.objects.filter(pk__in=[workload.pk for workload in given]).update(
        handed_over_at=timezone.now()
    )
