"""Workloads are warned before a limit of a scheduling rule, stopped at it, and extended once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from clusters.models import Cluster, State
from engines.fake import FakeEngine
from projects.models import Department, Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.phases import Phase, Reason
from tests.caller import Caller
from tests.factories import IMAGE, TENTH, UserFactory, WorkloadFactory, add_members
from tests.web import signed_in
from tests.workloads.gangs import now, phases
from workloads import reconcile, services
from workloads.models import Sample, SampleKind, Workload
from workloads.scheduling.limits import rule_limits
from workloads.submission import submit_all
from workloads.worker import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine")]
EXTENDED = {"extendedSeconds": 9000, "source": "department research"}


def limited(project: Project, minutes: float, column: str, **fields: Any) -> Workload:
    """Running for so long, with a limit of 100 minutes that can be extended to 150."""
    since = timezone.now() - timedelta(minutes=minutes)
    limit = {column: 6000, "rules_json": {column: EXTENDED}}
    row = {"running": True, "phase_updated_at": since} | limit | fields
    workload: Workload = WorkloadFactory(project=project, **row)
    return workload


def timed(project: Project, minutes: float, **fields: Any) -> Workload:
    return limited(project, minutes, rule_limits.TIME, **fields)


def idle(project: Project, minutes: float, *, used_at: int = 0) -> Workload:
    """Running and measured for so long. Its GPU was used ``used_at`` minutes ago, or never."""
    workload = limited(project, minutes, rule_limits.IDLE)
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            rank=0,
            at=timezone.now() - timedelta(minutes=minute),
            values={"cpu": 0.9, "gpu": 50.0 if used_at and minute >= used_at else 0.0},
        )
        for minute in range(int(minutes), -1, -1)
    )
    return workload


def owner_of(workload: Workload) -> User:
    assert workload.created_by
    return workload.created_by


def warnings_of(workload: Workload) -> list[str]:
    events = workload.events.filter(reason=Reason.WILL_STOP_BY_RULE)
    return [event.message for event in events]


def submitted(project: Project, member: User, **values: Any) -> Workload:
    draft = WorkloadDraft(
        name="train",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values={"image": IMAGE, **values}),
    )
    (workload,) = submit_all([draft], by=member)
    return workload


@pytest.mark.usefixtures("valkey")
def test_a_workload_keeps_the_rules_of_its_submission(project: Project) -> None:
    member = UserFactory()
    add_members(project, member)
    rules = {
        "training_job_time_limit_seconds": 7200,
        "training_job_max_idle_duration_seconds": 600,
        "extension_seconds": 60,
    }
    Department.objects.update(name="research", **rules)
    with_gpu = submitted(Project.objects.get(), member, compute=TENTH)
    assert (with_gpu.rule_time_limit_seconds, with_gpu.idle_gpu_limit_seconds) == (7200, 600)
    assert with_gpu.rules_json[rule_limits.TIME] == {
        "extendedSeconds": 7260,
        "source": "department research",
    }
    with_gpu.delete()
    Department.objects.update(**dict.fromkeys(rules))
    later = submitted(Project.objects.get(), member, compute=TENTH)
    assert (later.rule_time_limit_seconds, later.idle_gpu_limit_seconds) == (None, None)


@pytest.mark.usefixtures("valkey")
def test_an_idle_limit_is_not_for_workloads_without_gpus(project: Project) -> None:
    member = UserFactory()
    add_members(project, member)
    Project.objects.update(training_job_max_idle_duration_seconds=600)
    assert submitted(Project.objects.get(), member).idle_gpu_limit_seconds is None


def test_a_workload_is_warned_once_and_stopped_at_the_limit_of_a_rule(project: Project) -> None:
    early = timed(project, 80)
    near = timed(project, 91)
    over = timed(project, 101)
    sweep.sweep()
    sweep.sweep()
    assert phases(early, near, over) == [Phase.RUNNING, Phase.RUNNING, Phase.STOPPING]
    assert warnings_of(early) == []
    (warning,) = warnings_of(near)
    assert "the time limit of department research, 1 h 40 min" in warning
    assert "extend the limit once, to 2 h 30 min" in warning
    stopped = now(over)
    assert stopped.reason == Reason.STOPPED_BY_RULE
    assert stopped.events.filter(reason=Reason.STOPPED_BY_RULE).count() == 1


def test_waiting_does_not_count_and_a_silent_cluster_is_not_asked(project: Project) -> None:
    waits = timed(project, 200, phase=Phase.PENDING)
    over = timed(project, 101)
    Cluster.objects.update(state=State.DISCONNECTED)
    rule_limits.enforce_time_limits()
    assert phases(waits, over) == [Phase.PENDING, Phase.RUNNING]


def test_a_workload_with_idle_gpus_is_warned_and_stopped(project: Project) -> None:
    working = idle(project, 120, used_at=1)
    resting = idle(project, 120, used_at=50)
    near = idle(project, 120, used_at=93)
    over = idle(project, 120, used_at=105)
    rule_limits.enforce_idle_limits()
    rule_limits.enforce_idle_limits()
    assert phases(working, resting, near, over) == [Phase.RUNNING] * 3 + [Phase.STOPPING]
    assert warnings_of(working) + warnings_of(resting) == []
    assert len(warnings_of(near)) == 1
    assert "Run starts it again" in now(over).message


def test_gpus_that_nobody_measures_are_not_idle(project: Project) -> None:
    unmeasured = limited(project, 200, rule_limits.IDLE)
    rule_limits.enforce_idle_limits()
    assert phases(unmeasured) == [Phase.RUNNING]


def test_a_workload_stopped_by_a_rule_is_stopped_and_not_failed(
    engine: FakeEngine, project: Project
) -> None:
    workload = timed(project, 0, phase=Phase.INITIALIZING, observed_run=0)
    reconcile.launch(now(workload))
    engine.show(workload.handle, Phase.RUNNING)
    Workload.objects.update(phase=Phase.RUNNING, running_seconds=6000)
    rule_limits.enforce_time_limits()
    reconcile.stop(now(workload))
    ended = now(workload)
    assert (ended.phase, ended.reason) == (Phase.STOPPED, Reason.STOPPED_BY_RULE)
    with pytest.raises(services.NotPossible, match="used up the time limit"):
        services.resume(ended, by=owner_of(workload))
    services.extend(now(workload), by=owner_of(workload))
    services.resume(now(workload), by=owner_of(workload))
    assert now(workload).run == 2


def test_the_owner_extends_a_limit_once(project: Project) -> None:
    workload = timed(project, 101)
    services.extend(workload, by=owner_of(workload))
    rule_limits.enforce_time_limits()
    extended = now(workload)
    assert (extended.phase, extended.rule_time_limit_seconds) == (Phase.RUNNING, 9000)
    assert extended.events.filter(verb="extend", actor=workload.created_by).exists()
    with pytest.raises(services.NotPossible, match="extended already"):
        services.extend(extended, by=owner_of(workload))


def test_only_the_owner_extends_and_only_where_the_rule_allows_it(project: Project) -> None:
    workload = timed(project, 10)
    with pytest.raises(services.NotPossible, match="Only the owner"):
        services.extend(workload, by=UserFactory(administrator=True))
    fixed = timed(project, 10, rules_json={rule_limits.TIME: EXTENDED | {"extendedSeconds": 6000}})
    with pytest.raises(services.NotPossible, match="no limit that can be extended"):
        services.extend(fixed, by=owner_of(fixed))


def test_the_page_warns_and_offers_the_extension_to_the_owner(project: Project) -> None:
    workload = timed(project, 95)
    address = f"/workloads/{workload.pk}/"
    page = signed_in(owner_of(workload)).get(address).content.decode()
    assert "It will be stopped in" in page
    assert "1 h 40 min (department research)" in page
    assert f"{address}extend/" in page
    colleague = UserFactory()
    add_members(project, colleague)
    assert f"{address}extend/" not in signed_in(colleague).get(address).content.decode()
    owner = signed_in(owner_of(workload))
    assert owner.get(f"{address}extend/").status_code == 200
    assert owner.post(f"{address}extend/").status_code == 302
    assert owner.post(f"{address}extend/").status_code == 409
    assert "2 h 30 min (department research, extended)" in owner.get(address).content.decode()


def test_rest_shows_and_extends_the_limits(project: Project) -> None:
    workload = timed(project, 10)
    call = Caller(owner_of(workload))
    path = f"/workloads/{workload.pk}"
    limits = call("GET", path)[1]["ruleLimits"]
    assert (limits["timeLimitSeconds"], limits["timeLimitExtendedSeconds"]) == (6000, 9000)
    status, answer = call("POST", f"{path}/extend")
    assert (status, answer["ruleLimits"]["timeLimitSeconds"]) == (200, 9000)
    assert answer["ruleLimits"]["timeLimitExtendedSeconds"] is None
    assert call("POST", f"{path}/extend")[0] == 409
