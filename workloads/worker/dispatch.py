"""Taking up what was asked to run, many at once and on level: clusters that queue for themselves
get it, on others it joins our own queue.

The rows say what there is to do, a message only says "look". So a thousand submissions need a few
messages, and a message that is lost costs the seconds until the next sweep.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from assets.credential.own_keys import engine_by
from clusters.models import Cluster
from core.broker.enqueue import looked
from core.broker.lease import ending, lease
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable, Launch
from spec.phases import ASKED_TO_RUN, Phase, Reason
from spec.problems.causes import Cause, CauseKind
from workloads import enqueue, reconcile
from workloads.history import causes, events
from workloads.launch import launch_of
from workloads.models import Workload, WorkloadQuerySet
from workloads.scheduling import admission
from workloads.scheduling.fit.foresight import FEW, judge_unasked

log = logging.getLogger(__name__)

AT_ONCE = 64  # workloads between two looks at the database
GATHER_SECONDS = 0.2  # in which more come where some came, so that many take few looks
# Given and never seen there: once more, for twice is once. Later than an engine tells of a new job.
UNSEEN = timedelta(seconds=30)
NOT_TAKEN, SOON = "The cluster has not accepted it yet", "Retrying every few seconds."
LEASE_SECONDS = 10.0  # so soon somebody else goes on when its holder dies; twice is once


def hand_over(cluster: Cluster) -> None:
    """Give the cluster every workload that it should have.

    ``EngineUnavailable`` when some of them have to wait; the others are there then.
    """
    more = True
    while more and not ending.is_set():
        with lease(f"hand-over:{cluster.pk}", seconds=LEASE_SECONDS) as extend:
            if extend is None:
                return  # who holds it looks once more after giving it back
            _give_all(cluster, extend)
            looked(enqueue.HAND_OVER, cluster.pk)
        more = waiting(cluster).exists()
    enqueue.monitor(cluster.pk)


def queue_up(cluster: Cluster) -> None:
    """Queue what was submitted or resumed on a cluster that has no queue of its own, and start what
    may. Whoever is at it as well moves no workload a second time."""
    looked(enqueue.QUEUE_UP, cluster.pk)  # first: what is committed after our look asks for another
    rows = Workload.objects.filter(cluster=cluster, phase__in=ASKED_TO_RUN, deleted_at=None)
    asked = rows.order_by("queued_at", "pk")
    left = list(asked.values_list("pk", flat=True))
    ahead = Workload.objects.waiting().filter(cluster=cluster).count()
    while True:
        some, left = left[:AT_ONCE], left[AT_ONCE:]
        for workload in asked.filter(pk__in=some).select_related("project"):
            workload.cluster = cluster
            _queue(workload, judges=ahead < FEW)
            ahead += 1
        admission.admit(cluster)
        if not left:
            return


def _queue(workload: Workload, *, judges: bool) -> None:
    if judges and not workload.spec_fault:
        judge_unasked(workload.cluster, [workload])
    with transaction.atomic():
        if workload.move(Phase.PENDING):
            events.phase(workload)


def _give_all(cluster: Cluster, extend: Callable[[], bool]) -> None:
    """Round after round. What has to wait keeps nobody back, unless nothing gets through."""
    late: dict[UUID, EngineUnavailable] = {}
    with ThreadPoolExecutor(cluster.definition.calls) as pool:
        while extend():
            # Whether there are any costs less than to look for them, which the sweep has us do.
            left = waiting(cluster).exclude(pk__in=late)
            some = list(_to_launch(left)[:AT_ONCE]) if left.exists() else []
            late |= (now := _give(cluster, some, pool, extend))
            if len(now) == len(some):
                break
            if len(some) < AT_ONCE and not late:  # what is late is told soon, and tried again
                ending.wait(GATHER_SECONDS)
    for error in late.values():
        log.warning("%s does not accept %d workloads for now: %s", cluster, len(late), error)
        raise error


def waiting(cluster: Cluster) -> WorkloadQuerySet:
    """What was asked to run and is not known to be there, first come first."""
    unseen = Q(handed_over_at__lt=timezone.now() - UNSEEN, observed_run__lt=F("run"))
    return (
        Workload.objects.filter(Q(handed_over_at=None) | unseen, cluster=cluster, deleted_at=None)
        .filter(phase__in=ASKED_TO_RUN)
        .order_by("queued_at", "pk")
    )


def _to_launch(waiting: WorkloadQuerySet) -> WorkloadQuerySet:
    """With all that a launch tells of each, for what is left out is a question of each row."""
    rows = waiting.select_related("project", "created_by")
    own = ("name", "spec_json", "verdict", "running_seconds", "created_by__username")
    return rows.standing(*own, "project__name", "project__department", "project__cluster")


def _give(
    cluster: Cluster,
    workloads: list[Workload],
    pool: ThreadPoolExecutor,
    extend: Callable[[], bool],
) -> dict[UUID, EngineUnavailable]:
    """One round; returns what has to wait, and why. The threads leave the database alone."""
    launches, engines = dict[Workload, Launch](), list[Engine]()
    for workload in workloads:
        workload.cluster = cluster
        try:
            engine = engine_by(cluster, workload.created_by_id)
            launches[workload] = launch_of(workload)
            engines.append(engine)
        except EngineRefused as refusal:
            reconcile.refused(workload, refusal)
        except ValueError:  # a row that cannot be read must not stop the others
            log.exception("Workload %s cannot be given to %s", workload.pk, cluster)
    judge_unasked(cluster, launches)
    answers = pool.map(_submit, engines, launches.values())
    late, extended = {}, time.monotonic()
    for workload, answer in zip(launches, answers, strict=True):
        if time.monotonic() - extended > LEASE_SECONDS / 4:
            extend()
            extended = time.monotonic()
        if isinstance(answer, EngineUnavailable):
            late[workload.pk] = answer
            _delayed(workload, answer)
        elif isinstance(answer, EngineRefused):
            reconcile.refused(workload, answer)
    given = [workload.pk for workload in workloads if workload.pk not in late]
    Workload.objects.filter(pk__in=given).update(handed_over_at=timezone.now())
    _taken(given)
    return late


def _delayed(workload: Workload, why: EngineUnavailable) -> None:
    """The cluster does not accept it at the moment: it waits, and shows for what."""
    cause = why.cause or Cause(
        CauseKind.OTHER, NOT_TAKEN, SOON, said=str(why), own_reason=Reason.CLUSTER_UNAVAILABLE
    )
    waits = Workload.objects.filter(pk=workload.pk, phase__in=ASKED_TO_RUN, run=workload.run)
    with transaction.atomic():
        if waits.update(reason=cause.reason, message=cause.message):
            causes.keep(workload, cause)
            events.announce(workload)


def _taken(given: list[UUID]) -> None:
    """What any of them waited for is past."""
    waited = Workload.objects.filter(
        pk__in=given, phase__in=ASKED_TO_RUN, reason=Reason.CLUSTER_UNAVAILABLE
    )
    for workload in waited.standing():
        with transaction.atomic():
            waited.filter(pk=workload.pk).update(reason=Reason.NONE, message="")
            causes.end(workload)
            events.announce(workload)


def _submit(engine: Engine, launch: Launch) -> EngineError | None:
    try:
        engine.submit(launch)
    except (EngineRefused, EngineUnavailable) as error:
        return error
    return None
