"""Admission plans with the time limits that workloads have from scheduling rules."""

from datetime import timedelta

import pytest
from django.utils import timezone

from projects.models import Project
from spec.phases import Phase
from tests.workloads.gangs import gang, phases, waiting
from workloads.models import Workload
from workloads.scheduling import admission, capacity
from workloads.scheduling.limits import rule_limits

STARTED = Phase.INITIALIZING
WAITS = Phase.PENDING
BUSY_SECONDS = 7200


def limit(workload: Workload, seconds: int, *, extended_seconds: int = 0) -> Workload:
    """Give a workload a time limit from a rule, as at its submission."""
    extended = {"extendedSeconds": extended_seconds or seconds, "source": "department research"}
    workload.rule_time_limit_seconds = seconds
    workload.rules_json = {rule_limits.TIME: extended}
    workload.save()
    return workload


@pytest.fixture
def head(project: Project) -> Workload:
    """A gang that waits for all four GPUs, of which three are taken for two hours at most."""
    Project.objects.update(gpu_quota=0)
    limit(waiting(project, "busy", gpus=3), BUSY_SECONDS)
    admission.admit_waiting(project.cluster)
    return waiting(project, "head", gpus=4)


@pytest.mark.parametrize(
    ("seconds", "extended_seconds", "phase"),
    [(600, 0, STARTED), (600, 3 * BUSY_SECONDS, WAITS), (3 * BUSY_SECONDS, 0, WAITS)],
)
def test_a_workload_goes_first_if_it_ends_in_time_even_when_extended(
    head: Workload, project: Project, seconds: int, extended_seconds: int, phase: Phase
) -> None:
    small = limit(waiting(project, "small", gpus=1), seconds, extended_seconds=extended_seconds)
    admission.admit_waiting(project.cluster)
    assert phases(head, small) == [WAITS, phase]


def test_a_used_extension_counts_no_more(head: Workload, project: Project) -> None:
    small = limit(waiting(project, "small", gpus=1), 600, extended_seconds=3 * BUSY_SECONDS)
    Workload.objects.filter(pk=small.pk).update(limits_extended_at=timezone.now())
    admission.admit_waiting(project.cluster)
    assert phases(head, small) == [WAITS, STARTED]


def test_the_verdict_before_a_submission_uses_the_rules_of_the_project(
    head: Workload, project: Project
) -> None:
    def starts_now() -> bool:
        there = capacity.occupying_workloads(project.cluster)
        own = Project.objects.select_related("department", "cluster").get(pk=project.pk)
        return admission.predict_start(own.cluster, own, gang(1), there).starts

    assert not starts_now()
    Project.objects.update(training_job_time_limit_seconds=600)
    assert starts_now()


def test_a_rule_holds_for_workloads_submitted_after_it_was_set(project: Project) -> None:
    earlier = waiting(project, "earlier", gpus=1)
    Project.objects.update(training_job_time_limit_seconds=60)
    admission.admit_waiting(project.cluster)
    long_ago = timezone.now() - timedelta(hours=1)
    rows = Workload.objects.filter(pk=earlier.pk)
    rows.update(phase=Phase.RUNNING, phase_updated_at=long_ago)
    rule_limits.enforce_time_limits()
    assert phases(earlier) == [Phase.RUNNING]
