"""A workspace is over when somebody stops it; a program that ends by itself only stops it."""

from datetime import UTC, datetime

import pytest

from engines.base import Observation
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from workloads import reconcile, services
from workloads.history import phase_order
from workloads.models import Workload


@pytest.fixture
def workspace(project: Project) -> Workload:
    workload: Workload = WorkloadFactory(project=project, workspace=True, running=True)
    return workload


def ends(
    workload: Workload, phase: Phase, message: str = "", reason: Reason = Reason.NONE
) -> Workload:
    now = datetime.now(UTC)
    end = Observation(workload.pk, workload.run, 9, phase, now, message=message, reason=reason)
    assert reconcile.apply(Workload.objects.get(pk=workload.pk), end)
    return Workload.objects.get(pk=workload.pk)


def test_a_workspace_whose_program_ends_is_stopped_and_runs_again(workspace: Workload) -> None:
    ended = ends(workspace, Phase.COMPLETED)
    assert (ended.phase, ended.reason, ended.message) == (
        Phase.STOPPED,
        Reason.NONE,
        phase_order.PROGRAM_ENDED,
    )
    services.resume(ended, by=workspace.created_by)
    assert Workload.objects.get(pk=workspace.pk).run == 2


def test_a_workspace_that_fails_has_failed(workspace: Workload) -> None:
    assert ends(workspace, Phase.FAILED, "exit code 1").phase == Phase.FAILED


def test_a_workspace_whose_pod_was_taken_away_is_stopped_and_runs_again(
    workspace: Workload,
) -> None:
    said = "worker-0 (rank 0) was evicted: Eviction API: evicting."
    ended = ends(workspace, Phase.FAILED, said, Reason.LOST)
    assert (ended.phase, ended.message) == (Phase.STOPPED, f"{said} Run starts it again.")
    services.resume(ended, by=workspace.created_by)
