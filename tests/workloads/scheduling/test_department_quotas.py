"""A department that may not go over its quota caps what its projects hold together."""

import pytest

from accounts.models import User
from engines.fake import FakeEngine
from projects.models import Department, Project
from spec.phases import Phase, Reason
from tests.factories import ProjectFactory, WorkloadFactory
from tests.workloads.gangs import draft, now, phases, waiting
from workloads import services
from workloads.models import Workload
from workloads.plan import plan
from workloads.scheduling import admission
from workloads.wizard.pages import summary

pytestmark = pytest.mark.django_db
STARTED = Phase.INITIALIZING
WAITS = Phase.PENDING


@pytest.fixture
def project(project: Project) -> Project:
    """It may go over its own 4 GPUs, its department not over 5; ``other`` is there too."""
    project.department.name = "research"
    project.department.gpu_quota = 5
    project.department.over_quota = False
    project.department.save()
    return project


@pytest.fixture
def other(project: Project) -> Project:
    return ProjectFactory(cluster=project.cluster, department=project.department)


@pytest.fixture
def queued(engine: FakeEngine, project: Project) -> Project:
    """On a cluster that starts all that it is given."""
    engine.queues = True
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    return project


@pytest.mark.parametrize(("gpus", "fits"), [(2, True), (3, False)])
def test_a_submission_counts_with_what_its_projects_hold(
    queued: Project, other: Project, member: User, gpus: int, fits: bool
) -> None:
    WorkloadFactory(project=queued, running=True, gpus=1)
    WorkloadFactory(project=other, pending=True, gpus=2)
    WorkloadFactory(project=other, completed=True, gpus=4)
    WorkloadFactory(project=ProjectFactory(cluster=queued.cluster), running=True, gpus=4)
    made = plan(draft(queued, gpus), by=member)
    assert made.is_submittable is fits
    if not fits:
        (problem,) = made.problems
        for fact in ("6 GPUs", "the quota is 5 (3 held)", "the department research"):
            assert fact in problem.message


def test_a_department_that_may_go_over_its_quota_caps_nothing(
    queued: Project, member: User
) -> None:
    Department.objects.update(over_quota=True)
    assert plan(draft(queued, 64), by=member).is_submittable


def test_a_department_without_a_quota_has_the_sum_of_its_projects(
    queued: Project, other: Project, member: User
) -> None:
    Department.objects.update(gpu_quota=None)
    assert plan(draft(queued, 8), by=member).is_submittable
    assert not plan(draft(queued, 9), by=member).is_submittable


def test_the_quota_of_a_department_holds_when_a_workload_runs_again(
    queued: Project, other: Project, member: User
) -> None:
    workload = WorkloadFactory(project=queued, stopped=True, gpus=3)
    holder = WorkloadFactory(project=other, running=True, gpus=3)
    words = r"6 GPUs, the quota is 5 \(3 held\) and the department research may not"
    with pytest.raises(services.NotPossible, match=words):
        services.resume(workload, by=member)
    Workload.objects.filter(pk=holder.pk).update(phase=Phase.COMPLETED)
    services.resume(workload, by=member)
    assert now(workload).phase == Phase.RESUMING


@pytest.mark.parametrize(("gpus", "fits"), [(5, True), (6, False)])
def test_only_what_never_fits_a_department_is_refused_where_queues_know_quotas(
    queued: Project, other: Project, member: User, gpus: int, fits: bool
) -> None:
    queued.cluster.capabilities_json["quotas"] = True
    queued.cluster.save()
    WorkloadFactory(project=other, running=True, gpus=4)
    made = plan(draft(queued, gpus), by=member)
    assert made.is_submittable is fits
    assert ["department research" in problem.message for problem in made.problems] == (
        [] if fits else [True]
    )


@pytest.mark.parametrize(("gpus", "headline"), [(1, "Ready to submit"), (2, "Will wait")])
def test_the_wizard_says_what_waits_for_a_department_where_queues_know_quotas(
    queued: Project, other: Project, member: User, gpus: int, headline: str
) -> None:
    queued.cluster.capabilities_json["quotas"] = True
    queued.cluster.save()
    queued.cluster.nodes.update(gpu_count=4)
    WorkloadFactory(project=other, running=True, gpus=4)
    found = summary.summarize(plan(draft(queued, gpus), by=member))
    assert found.headline == headline
    if headline == "Will wait":
        for fact in ("6 GPUs", "the quota is 5 (4 held)", "the department research"):
            assert fact in found.detail


def test_a_departments_quota_applies_to_its_projects_on_this_machine(
    project: Project, other: Project, member: User
) -> None:
    Department.objects.update(gpu_quota=2)
    elsewhere = ProjectFactory(cluster=project.cluster)
    first = waiting(project, "a", gpus=2)
    kept_back = waiting(other, "b", gpus=1)
    passes = waiting(elsewhere, "c", gpus=1)
    admission.admit_waiting(project.cluster)
    assert phases(first, kept_back, passes) == [STARTED, WAITS, STARTED]
    kept_back.refresh_from_db()
    assert kept_back.reason == Reason.WAITING_FOR_QUOTA
    assert kept_back.message.startswith(
        "With it, the department research would hold 3 GPUs, the quota is 2 (2 held)"
    )
    assert plan(draft(project, 1), by=member).verdict == admission.Verdict(
        False, Reason.WAITING_FOR_QUOTA, kept_back.message
    )
    Workload.objects.filter(pk=first.pk).update(phase=Phase.COMPLETED)
    admission.admit_waiting(project.cluster)
    assert phases(kept_back) == [STARTED]


def test_both_quotas_count_and_that_of_the_project_is_named_first(
    queued: Project, member: User
) -> None:
    Project.objects.update(over_quota=False)
    (problem,) = plan(draft(queued, 6), by=member).problems
    assert "the project's other workloads" in problem.message
    assert "the quota is 4" in problem.message
