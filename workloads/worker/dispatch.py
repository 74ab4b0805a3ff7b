"""Take up workloads that were asked to run: submit them to clusters that have a queue, or add them
to Trainyard's queue.

The rows say what there is to do; a message only says "look". So a thousand submissions need few
messages, and a lost message only costs the time until the next sweep.
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

from clusters.models import Cluster
from core.broker.enqueue import allow_next
from core.broker.lease import hold_lease, shutting_down
from engines.base import Engine, EngineError, EngineRefused, EngineUnavailable, Launch
from spec.phases import RUN_REQUESTED, Phase, Reason
from spec.problems.causes import Cause, CauseKind
from workloads import enqueue, reconcile
from workloads.engines import engine_for_person
from workloads.history import causes, events
from workloads.launch import launch_with_secrets
from workloads.models import Workload, WorkloadQuerySet
from workloads.scheduling import admission, arrays
from workloads.scheduling.fit.foresight import MAX_JUDGED, store_missing_verdicts

log = logging.getLogger(__name__)

AT_ONCE = 64  # workloads per query
GATHER_SECONDS = 0.2  # wait for more submissions in a burst, which then need fewer rounds
# Submit again what was handed over and never observed; submitting is idempotent. Must be longer
# than an engine holds back a new job.
UNSEEN = timedelta(seconds=30)
NOT_ACCEPTED = "The cluster has not accepted it yet"
SOON = "Retrying every few seconds."
#: Reasons for which a cluster does not accept a workload for now; see ``EngineUnavailable.cause``.
DELAYS = (Reason.CLUSTER_UNAVAILABLE, Reason.WAITING_FOR_QUOTA)
LEASE_SECONDS = 10.0  # if its holder dies, another process continues after this time


def hand_over(cluster: Cluster) -> None:
    """Submit every workload that the cluster should have.

    ``EngineUnavailable`` if some have to wait; the others have been submitted then.
    """
    more = True
    while more and not shutting_down.is_set():
        with hold_lease(f"hand-over:{cluster.pk}", seconds=LEASE_SECONDS) as extend:
            if extend is None:
                return  # its holder looks once more after releasing it
            _submit_all(cluster, extend)
            allow_next(enqueue.HAND_OVER, cluster.pk)
        more = waiting_for_submission(cluster).exists()
    enqueue.monitor(cluster.pk)


def queue_up(cluster: Cluster) -> None:
    """Queue submitted and resumed workloads of a cluster without a queue of its own, and start
    those that may. Processes that do this at the same time do no harm."""
    allow_next(enqueue.QUEUE_UP, cluster.pk)  # what is committed later needs a message of its own
    rows = Workload.objects.filter(cluster=cluster, phase__in=RUN_REQUESTED, deleted_at=None)
    asked = rows.order_by("queued_at", "pk")
    left = list(arrays.within_limits(asked).values_list("pk", flat=True))
    ahead = Workload.objects.waiting().filter(cluster=cluster).count()
    while True:
        some = left[:AT_ONCE]
        left = left[AT_ONCE:]
        for workload in asked.filter(pk__in=some).select_related("project"):
            workload.cluster = cluster
            _queue_workload(workload, judges=ahead < MAX_JUDGED)
            ahead += 1
        admission.admit_waiting(cluster)
        if not left:
            return


def _queue_workload(workload: Workload, *, judges: bool) -> None:
    if judges and not workload.spec_fault:
        store_missing_verdicts(workload.cluster, [workload])
    with transaction.atomic():
        if workload.move(Phase.PENDING):
            events.record_phase(workload)


def _submit_all(cluster: Cluster, extend: Callable[[], bool]) -> None:
    """Submit in rounds. Workloads that have to wait do not hold up others, unless nothing gets
    through."""
    late: dict[UUID, EngineUnavailable] = {}
    with ThreadPoolExecutor(cluster.definition.parallel_submissions) as pool:
        while extend():
            # ``exists`` is cheaper than the query below, and the sweep causes many calls with
            # nothing to do.
            rows = waiting_for_submission(cluster).exclude(pk__in=late)
            some = list(_with_launch_columns(rows)[:AT_ONCE]) if rows.exists() else []
            late_now = _submit_round(cluster, some, pool, extend)
            late |= late_now
            if len(late_now) == len(some):
                break
            if len(some) < AT_ONCE and not late:  # delays are reported soon, and retried
                shutting_down.wait(GATHER_SECONDS)
    for error in late.values():
        log.warning("%s does not accept %d workloads for now: %s", cluster, len(late), error)
        raise error


def waiting_for_submission(cluster: Cluster) -> WorkloadQuerySet:
    """Return workloads that were asked to run and are not known to be on the cluster, in order of
    submission."""
    unseen = Q(handed_over_at__lt=timezone.now() - UNSEEN, observed_run__lt=F("run"))
    rows = Workload.objects.filter(
        Q(handed_over_at=None) | unseen,
        cluster=cluster,
        deleted_at=None,
        phase__in=RUN_REQUESTED,
    )
    return arrays.within_limits(rows).order_by("queued_at", "pk")


def _with_launch_columns(waiting: WorkloadQuerySet) -> WorkloadQuerySet:
    """Load everything a launch needs, because each column left out would cost a query per row."""
    rows = waiting.select_related("project", "created_by")
    own = ("name", "spec_json", "verdict", "running_seconds", "created_by__username")
    return rows.with_state_columns(*own, "project__name", "project__department", "project__cluster")


def _submit_round(
    cluster: Cluster,
    workloads: list[Workload],
    pool: ThreadPoolExecutor,
    extend: Callable[[], bool],
) -> dict[UUID, EngineUnavailable]:
    """Submit one round of workloads; returns those that have to wait, with the reason. The threads
    do not use the database."""
    launches = dict[Workload, Launch]()
    engines = list[Engine]()
    for workload in workloads:
        workload.cluster = cluster
        try:
            engine = engine_for_person(cluster, workload.created_by_id)
            launches[workload] = launch_with_secrets(workload)
            engines.append(engine)
        except EngineRefused as refusal:
            reconcile.fail_refused(workload, refusal)
        except ValueError:  # an unreadable row must not stop the others
            log.exception("Workload %s cannot be given to %s", workload.pk, cluster)
    store_missing_verdicts(cluster, launches)
    answers = pool.map(_submit_launch, engines, launches.values())
    late = {}
    extended = time.monotonic()
    for workload, answer in zip(launches, answers, strict=True):
        if time.monotonic() - extended > LEASE_SECONDS / 4:
            extend()
            extended = time.monotonic()
        if isinstance(answer, EngineUnavailable):
            late[workload.pk] = answer
            _show_delay(workload, answer)
        elif isinstance(answer, EngineRefused):
            reconcile.fail_refused(workload, answer)
    submitted = [workload.pk for workload in workloads if workload.pk not in late]
    Workload.objects.filter(pk__in=submitted).update(handed_over_at=timezone.now())
    _clear_delays(submitted)
    return late


def _show_delay(workload: Workload, why: EngineUnavailable) -> None:
    """Show on a workload why its cluster does not accept it at the moment."""
    cause = why.cause or Cause(
        CauseKind.OTHER,
        NOT_ACCEPTED,
        SOON,
        said=str(why),
        precise_reason=Reason.CLUSTER_UNAVAILABLE,
    )
    # Guarded: it may have been stopped or accepted since the round began.
    waits = Workload.objects.filter(pk=workload.pk, phase__in=RUN_REQUESTED, run=workload.run)
    with transaction.atomic():
        if waits.update(reason=cause.reason, message=cause.message):
            causes.record_cause(workload, cause)
            events.announce(workload)


def _clear_delays(submitted: list[UUID]) -> None:
    """Clear what submitted workloads waited for."""
    waited = Workload.objects.filter(pk__in=submitted, phase__in=RUN_REQUESTED, reason__in=DELAYS)
    for workload in waited.with_state_columns():
        with transaction.atomic():
            waited.filter(pk=workload.pk).update(reason=Reason.NONE, message="")
            causes.end_cause(workload)
            events.announce(workload)


def _submit_launch(engine: Engine, launch: Launch) -> EngineError | None:
    try:
        engine.submit(launch)
    except (EngineRefused, EngineUnavailable) as error:
        return error
    return None
