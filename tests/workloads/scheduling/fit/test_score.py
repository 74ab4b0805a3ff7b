"""What was foreseen at submission is stored, and compared with what happened."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from clusters.models import Cluster
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.phases import Phase, Reason
from spec.problems.causes import CauseKind
from tests.factories import UserFactory, WorkloadFactory, add_members
from tests.workloads.gangs import engine, now, project, waiting
from workloads import services
from workloads.models import CausePeriod, Workload
from workloads.plan import plan
from workloads.scheduling.fit import score
from workloads.scheduling.fit.foresight import MAX_JUDGED, store_missing_verdicts
from workloads.scheduling.fit.judge import Answer
from workloads.worker import dispatch

__all__ = ["engine", "project"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def member(project: Project) -> User:
    user: User = UserFactory()
    add_members(project, user)
    return user


def submitted(project: Project, member: User, gpus: int) -> Workload:
    values = {"image": "x:1", "command": "python", "compute": {"gpuDevicesRequest": gpus}}
    draft = WorkloadDraft(
        name=f"gang-{gpus}",
        cluster=project.cluster_id,
        project=project.pk,
        architecture="workers_only",
        worker=ReplicaDraft(values=values),
        values={"numWorkers": 1},
    )
    return services.submit(draft, by=member, planned=plan(draft, by=member))


def foreseen(project: Project, answer: Answer, **also: Any) -> Workload:
    workload: Workload = WorkloadFactory(project=project, verdict=answer, **also)
    return workload


def counted(cluster: Cluster) -> list[tuple[int, int, int]]:
    """Right, wrong, and with the reason foreseen: of now, later and never."""
    *each, _ = score.verdict_scores(cluster)
    return [(it.held, it.missed, it.named) for it in each]


@pytest.mark.usefixtures("engine")
def test_the_verdict_is_stored_with_the_workload(project: Project, member: User) -> None:
    first = submitted(project, member, 3)
    assert (first.verdict, first.verdict_cause) == (Answer.NOW, "")
    dispatch.queue_up(project.cluster)
    second = submitted(project, member, 2)
    assert (second.verdict, second.verdict_cause) == (Answer.LATER, CauseKind.CAPACITY)


def test_a_start_says_how_long_the_workload_waited_for_it(project: Project) -> None:
    then = timezone.now() - timedelta(seconds=70)
    workload = foreseen(project, Answer.LATER, pending=True, phase_updated_at=then)
    assert workload.move(Phase.INITIALIZING)
    assert now(workload).first_wait_seconds == pytest.approx(70, abs=5)
    assert score.verdict_in_words(now(workload)) == "Will wait. It started after 1 min 10 s"
    workload.move(Phase.PENDING)
    workload.move(Phase.RUNNING)
    assert now(workload).first_wait_seconds == pytest.approx(70, abs=5), "the first start counts"


def test_a_workload_that_ends_before_its_start_has_no_waiting_time(project: Project) -> None:
    workload = foreseen(project, Answer.NEVER, pending=True)
    assert workload.move(Phase.STOPPING)
    assert now(workload).first_wait_seconds is None


def test_now_is_right_if_it_starts_soon(project: Project) -> None:
    long_ago = timezone.now() - timedelta(minutes=5)
    foreseen(project, Answer.NOW, running=True, first_wait_seconds=3)
    foreseen(project, Answer.NOW, running=True, first_wait_seconds=90)
    foreseen(project, Answer.NOW, pending=True, created_at=long_ago)
    foreseen(project, Answer.NOW, pending=True)
    foreseen(project, Answer.NOW, stopped=True, pending_seconds=2)
    assert counted(project.cluster)[0] == (1, 2, 0), "the last two say nothing yet"


def test_later_is_right_if_it_waits_and_names_its_reason(project: Project) -> None:
    quota = {"verdict_cause": CauseKind.QUOTA}
    right = foreseen(project, Answer.LATER, running=True, first_wait_seconds=90, **quota)
    CausePeriod.objects.create(workload=right, run=1, kind=CauseKind.QUOTA, title="Quota")
    other = foreseen(project, Answer.LATER, running=True, first_wait_seconds=90, **quota)
    other.events.create(phase=Phase.PENDING, reason=Reason.WAITING_FOR_CAPACITY)
    own = foreseen(project, Answer.LATER, stopped=True, pending_seconds=90, **quota)
    own.events.create(phase=Phase.PENDING, reason=Reason.WAITING_FOR_QUOTA)
    foreseen(project, Answer.LATER, running=True, first_wait_seconds=1, **quota)
    assert counted(project.cluster)[1] == (3, 1, 2)


def test_never_is_right_once_it_was_given_up(project: Project) -> None:
    foreseen(project, Answer.NEVER, pending=True)
    foreseen(project, Answer.NEVER, stopped=True)
    foreseen(project, Answer.NEVER, running=True, first_wait_seconds=90)
    assert counted(project.cluster)[2] == (1, 1, 0)


def test_old_verdicts_and_those_left_to_the_queue_do_not_count(project: Project) -> None:
    old = timezone.now() - score.SINCE - timedelta(days=1)
    foreseen(project, Answer.NOW, running=True, first_wait_seconds=3, created_at=old)
    foreseen(project, Answer.UNKNOWN, running=True, first_wait_seconds=3)
    WorkloadFactory(project=project, running=True, first_wait_seconds=3)
    assert [it.rate_in_words for it in score.verdict_scores(project.cluster)] == ["–"] * 4


@pytest.mark.usefixtures("engine")
def test_workloads_of_programs_are_judged_before_they_are_queued(project: Project) -> None:
    for gpus, answer in ((3, Answer.NOW), (2, Answer.LATER)):
        workload = waiting(project, f"gang-{gpus}", gpus)
        Workload.objects.filter(pk=workload.pk).update(phase=Phase.CREATING)
        dispatch.queue_up(project.cluster)
        assert now(workload).verdict == answer


def test_a_burst_is_not_judged(project: Project) -> None:
    burst = [WorkloadFactory(project=project) for _ in range(MAX_JUDGED + 1)]
    store_missing_verdicts(project.cluster, burst)
    assert not Workload.objects.exclude(verdict="").exists()
    store_missing_verdicts(project.cluster, burst[:MAX_JUDGED])
    assert Workload.objects.exclude(verdict="").count() == MAX_JUDGED
