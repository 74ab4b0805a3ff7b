"""A workspace that nobody used for its idle limit is stopped, and runs again when it is wanted."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from clusters.models import Cluster, State
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.gangs import now, phases
from workloads import reconcile, services
from workloads.models import Sample, SampleKind, Workload
from workloads.scheduling.limits import idle_limits
from workloads.worker import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engine")]
NOBODY = "Nobody used it for 10 min, its idle limit. Run starts it again."
AT_REST = {"cpu": 0.01, "memory": 1e8, "gpu": 0.0}


def workspace(project: Project, minutes: float = 20, **fields: Any) -> Workload:
    """Running for so long, with an idle limit of 10 minutes."""
    workload: Workload = WorkloadFactory(project=project, workspace=True, running=True)
    workload.spec_json["idleLimitSeconds"] = workload.idle_limit_seconds = 600
    workload.phase_updated_at = timezone.now() - timedelta(minutes=minutes)
    for name, value in fields.items():
        setattr(workload, name, value)
    workload.save()
    return workload


def measured(
    workload: Workload, first: int = 20, last: int = 0, **other: dict[str, float]
) -> Workload:
    """Each minute, from ``first`` to ``last`` minutes ago; ``m5`` is what it was 5 minutes ago."""
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            rank=0,
            at=timezone.now() - timedelta(minutes=minute),
            values=other.get(f"m{minute}", AT_REST),
        )
        for minute in range(first, last - 1, -1)
    )
    return workload


def test_a_workspace_without_use_for_its_limit_is_asked_to_end(project: Project) -> None:
    idle = measured(workspace(project))
    cache.delete("idle-workloads")  # which the sweep of another test may have set just now
    sweep.sweep()
    asked = now(idle)
    assert (asked.phase, asked.reason, asked.message) == (Phase.STOPPING, Reason.IDLE, NOBODY)


@pytest.mark.parametrize("use", [{"cpu": 0.4}, {"cpu": 0.01, "gpu": 30.0}], ids=["cpu", "gpu"])
def test_use_keeps_it_running(project: Project, use: dict[str, float]) -> None:
    used = measured(workspace(project), m5=use)
    before = measured(workspace(project), m15=use)
    idle_limits.stop_idle_workspaces()
    assert phases(used, before) == [Phase.RUNNING, Phase.STOPPING]


def test_nothing_is_stopped_that_was_not_measured_all_the_time(project: Project) -> None:
    never = workspace(project)
    lately = measured(workspace(project), first=7)
    no_more = measured(workspace(project), last=3)
    with_a_gap = measured(measured(workspace(project), first=20, last=8), first=4)
    unknown = {"memory": 1e8}
    without_use = measured(workspace(project), m4=unknown, m5=unknown)
    idle_limits.stop_idle_workspaces()
    assert phases(never, lately, no_more, with_a_gap, without_use) == [Phase.RUNNING] * 5


def test_a_rank_whose_use_is_unknown_says_nothing_about_the_others(project: Project) -> None:
    """Such as a launcher beside workers with GPUs."""
    idle = measured(workspace(project))
    Sample.objects.create(
        workload=idle,
        kind=SampleKind.USAGE,
        run=idle.run,
        rank=1,
        at=timezone.now() - timedelta(minutes=5),
        values={"memory": 1e8},
    )
    idle_limits.stop_idle_workspaces()
    assert phases(idle) == [Phase.STOPPING]


def test_the_time_begins_with_the_run(project: Project) -> None:
    fresh = measured(workspace(project, minutes=5))
    endless = measured(workspace(project))
    endless.spec_json["idleLimitSeconds"] = endless.idle_limit_seconds = None
    endless.save()
    Cluster.objects.update(state=State.CONNECTED)
    idle_limits.stop_idle_workspaces()
    assert phases(fresh, endless) == [Phase.RUNNING] * 2


def test_a_silent_cluster_is_not_asked(project: Project) -> None:
    idle = measured(workspace(project))
    Cluster.objects.update(state=State.DISCONNECTED)
    idle_limits.stop_idle_workspaces()
    assert phases(idle) == [Phase.RUNNING]


def test_an_idle_workspace_is_stopped_after_a_restart_of_its_rank(
    engine: FakeEngine, project: Project
) -> None:
    idle = measured(workspace(project, phase=Phase.INITIALIZING, observed_run=0))
    reconcile.launch(now(idle))
    engine.show(idle.handle, Phase.RUNNING)
    since = timezone.now() - timedelta(minutes=20)
    Workload.objects.update(phase=Phase.RUNNING, phase_updated_at=since)
    idle_limits.stop_idle_workspaces()
    reconcile.stop(now(idle))
    ended = now(idle)
    assert (ended.phase, ended.reason) == (Phase.STOPPED, Reason.IDLE)
    assert ended.message.startswith(NOBODY)
    services.resume(ended, by=idle.created_by)
    assert now(idle).run == 2
