"""What has run for as long as its spec allows is ended, fails by that, and is not tried again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clusters.models import Cluster, State
from engines.base import Observation
from engines.fake import FakeEngine
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.phases import Phase, Reason
from tests.factories import IMAGE, UserFactory, WorkloadFactory, add_members, workload_spec
from tests.workloads.gangs import now, phases
from workloads import reconcile, services
from workloads.launch import launch_with_secrets
from workloads.models import Source, Workload
from workloads.scheduling.contenders import contender, tenant
from workloads.scheduling.limits import time_limits
from workloads.submission import submit_all
from workloads.worker import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine")]
REACHED = "It reached its time limit of 10 min."


def limited(project: Project, minutes: float, **fields: Any) -> Workload:
    """Running for so long, with a limit of 10 minutes."""
    spec = documents.dump_spec(workload_spec()) | {"timeLimitSeconds": 600}
    since = timezone.now() - timedelta(minutes=minutes)
    limit = {"spec_json": spec, "time_limit_seconds": 600}
    row = {"running": True, "phase_updated_at": since} | limit | fields
    workload: Workload = WorkloadFactory(project=project, **row)
    return workload


def test_a_workload_that_ran_for_its_time_limit_is_asked_to_end(project: Project) -> None:
    over = limited(project, 11)
    under = limited(project, 9)
    endless = WorkloadFactory(project=project, running=True)
    sweep.sweep()
    assert phases(over, under, endless) == [Phase.STOPPING, Phase.RUNNING, Phase.RUNNING]
    told = now(over)
    assert (told.reason, told.message) == (Reason.DEADLINE_EXCEEDED, REACHED)


@pytest.mark.usefixtures("valkey")
def test_a_workload_is_held_to_the_limit_that_it_was_submitted_with(project: Project) -> None:
    member = UserFactory()
    add_members(project, member)
    draft = WorkloadDraft(
        name="train",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values={"image": IMAGE}),
        values={"timeLimitSeconds": 600},
    )
    [workload] = submit_all([draft], by=member)
    since = timezone.now() - timedelta(minutes=11)
    Workload.objects.filter(pk=workload.pk).update(phase=Phase.RUNNING, phase_updated_at=since)
    time_limits.stop_over_limit()
    assert phases(workload) == [Phase.STOPPING]


def test_waiting_costs_nothing_and_earlier_runs_count(project: Project) -> None:
    waits = limited(project, 90, phase=Phase.PENDING)
    starts = limited(project, 90, phase=Phase.INITIALIZING)
    before = limited(project, 2, running_seconds=500)
    time_limits.stop_over_limit()
    assert phases(waits, starts, before) == [Phase.PENDING, Phase.INITIALIZING, Phase.STOPPING]


def test_the_delay_before_another_attempt_costs_nothing(project: Project) -> None:
    waits = limited(project, 90, phase=Phase.DEGRADED, reason=Reason.RESTARTING)
    incomplete = limited(project, 90, phase=Phase.DEGRADED)
    time_limits.stop_over_limit()
    assert phases(waits, incomplete) == [Phase.DEGRADED, Phase.STOPPING]
    assert now(waits).running_total == 0


def test_the_time_from_one_attempt_to_the_next_costs_nothing(project: Project) -> None:
    """Also while the next attempt starts, which an engine reports without a reason."""
    workload = limited(project, 8)
    told = [(Phase.INITIALIZING, Reason.RESTARTING, 6), (Phase.INITIALIZING, Reason.NONE, 2)]
    for number, (phase, reason, ago) in enumerate([*told, (Phase.RUNNING, Reason.NONE, 1)], 1):
        at = timezone.now() - timedelta(minutes=ago)
        seen = Observation(workload.pk, 1, number, phase, at, reason=reason, attempt=number)
        assert reconcile.apply(now(workload), seen)
    assert now(workload).running_total == pytest.approx(3 * 60, abs=5)


def test_a_silent_cluster_is_not_asked(project: Project) -> None:
    over = limited(project, 11)
    Cluster.objects.update(state=State.DISCONNECTED)
    time_limits.stop_over_limit()
    assert phases(over) == [Phase.RUNNING]


def test_a_workload_at_its_time_limit_fails_once_its_ranks_have_ended(
    engine: FakeEngine, project: Project
) -> None:
    workload = limited(project, 0, phase=Phase.INITIALIZING, observed_run=0)
    reconcile.launch(now(workload))
    engine.show(workload.handle, Phase.RUNNING)
    Workload.objects.update(phase=Phase.RUNNING, running_seconds=600)
    time_limits.stop_over_limit()
    reconcile.stop(now(workload))
    ended = now(workload)
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.DEADLINE_EXCEEDED)
    assert ended.message.startswith(REACHED)
    assert ended.can_run


def test_a_workload_at_its_time_limit_fails_where_its_cluster_lost_it(project: Project) -> None:
    workload = limited(project, 11)
    time_limits.stop_over_limit()
    reconcile.end_lost(now(workload))
    ended = now(workload)
    assert (ended.phase, ended.message) == (Phase.FAILED, REACHED)


def test_a_workload_that_completes_at_its_time_limit_has_completed(project: Project) -> None:
    workload = limited(project, 11)
    assert time_limits.stop_at_limit(workload)
    assert not time_limits.stop_at_limit(now(workload)), "it was asked already"
    assert now(workload).move(Phase.COMPLETED)
    assert not time_limits.finish_limit_stop(now(workload))


def test_engines_and_the_order_of_starts_know_what_is_left(project: Project) -> None:
    workload = limited(project, 1, running_seconds=200)
    assert launch_with_secrets(now(workload)).ran == 200
    assert contender(now(workload), now(workload).spec, 0).time_limit == 400
    until = workload.phase_updated_at.timestamp() + 400 + 30
    assert tenant(now(workload), 0).until == pytest.approx(until)
    endless = WorkloadFactory(project=project, running=True)
    assert tenant(now(endless), 0).until is None


def test_the_limit_of_a_batch_script_is_held_by_slurm(project: Project) -> None:
    script = "#!/bin/sh\n#SBATCH --ntasks=1 --time=10\nsrun hostname\n"
    fields = {"batch_script": script, "time_limit_seconds": 600}
    spec = workload_spec().model_copy(update=fields)
    shorter = spec.model_copy(update={"time_limit_seconds": 60})  # than the script says
    assert [time_limits.limit_to_enforce(it) for it in (spec, shorter)] == [None, 60]
    row = limited(project, 11, time_limit_seconds=None, spec_json=documents.dump_spec(spec))
    sweep.sweep()
    assert phases(row) == [Phase.RUNNING]


def out_of_time(project: Project, ran: float, **fields: Any) -> Workload:
    """Failed after a time limit."""
    ended = {"phase": Phase.FAILED, "reason": Reason.DEADLINE_EXCEEDED, "running_seconds": ran}
    ended |= {"completed_at": timezone.now(), "failure_class": "time-limit"}
    return limited(project, 0, **ended | fields)


def test_run_goes_on_after_a_limit_of_the_cluster(project: Project) -> None:
    workload = out_of_time(project, 300, auto_delete_at=timezone.now())
    services.resume(now(workload), by=workload.created_by)
    after = now(workload)
    assert (after.phase, after.run, after.message) == (Phase.RESUMING, 2, "")
    assert after.time_limit_seconds == 600
    assert (after.completed_at, after.auto_delete_at, after.failure_class) == (None, None, "")


def test_run_raises_a_limit_that_is_used_up_and_says_so(project: Project) -> None:
    workload = out_of_time(project, 590)
    services.resume(now(workload), by=workload.created_by)
    after = now(workload)
    assert after.message == "Its time limit was used up, so it is now 20 min."
    assert (after.time_limit_seconds, after.spec.time_limit_seconds) == (1200, 1200)
    assert [event.message for event in after.events.all()] == [after.message]
    again = {"phase": Phase.FAILED, "reason": Reason.DEADLINE_EXCEEDED, "running_seconds": 1200}
    asked = after.draft_json | {"values": {"timeLimitSeconds": 600}}
    Workload.objects.filter(pk=after.pk).update(**again, draft_json=asked)
    services.resume(now(workload), by=workload.created_by)
    assert now(workload).time_limit_seconds == 1800


def test_a_workload_of_a_workflow_runs_again_only_after_a_time_limit(project: Project) -> None:
    workload = out_of_time(project, 300, source=Source.WORKFLOW)
    assert workload.can_run
    Workload.objects.update(reason=Reason.RANK_FAILED)
    with pytest.raises(services.NotPossible, match="part of a workflow"):
        services.resume(now(workload), by=workload.created_by)


def test_a_limit_that_slurm_holds_is_not_raised(project: Project) -> None:
    workload = out_of_time(project, 900, time_limit_seconds=None)
    services.resume(now(workload), by=workload.created_by)
    assert (now(workload).phase, now(workload).message) == (Phase.RESUMING, "")
