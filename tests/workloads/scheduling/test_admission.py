"""Who may start: by quota, then first come first served, a gang whole or not at all."""

import pytest

from projects.models import Project
from spec.parts.scheduling import PriorityClass
from spec.phases import HOLDING_RESOURCES, Phase, Reason
from tests.factories import ProjectFactory
from tests.workloads.gangs import phases, waiting
from workloads.models import Event, Workload
from workloads.scheduling import admission
from workloads.scheduling.order.decide import decide

P = Phase
STARTED = Phase.INITIALIZING
WAITS = Phase.PENDING


def test_a_workload_that_fits_starts_and_each_rank_gets_its_devices(project: Project) -> None:
    workload = waiting(project, "a", gpus=1, workers=3)
    assert admission.admit_waiting(project.cluster) == 1
    assert phases(workload) == [STARTED]
    devices = [device for rank in workload.ranks.all() for device in rank.gpu_devices]
    assert len(devices) == len(set(devices)) == 3


def test_a_gang_never_starts_in_part(project: Project) -> None:
    first = waiting(project, "a", gpus=2)
    gang = waiting(project, "b", gpus=1, workers=3)
    admission.admit_waiting(project.cluster)
    assert phases(first, gang) == [STARTED, WAITS]
    assert all(rank.gpu_devices == [] for rank in gang.ranks.all())
    Workload.objects.filter(pk=first.pk).update(phase=P.COMPLETED)
    admission.admit_waiting(project.cluster)
    assert phases(gang) == [STARTED]


def test_a_small_gang_overtakes_no_large_one_when_the_machine_is_full(project: Project) -> None:
    """A large gang is not starved by small ones of its class that would fit beside what runs."""
    Project.objects.update(gpu_quota=0)
    first = waiting(project, "a", gpus=3)
    large = waiting(project, "b", gpus=4)
    small = waiting(project, "c", gpus=1)
    admission.admit_waiting(project.cluster)
    assert phases(first, large, small) == [STARTED, WAITS, WAITS]
    small.refresh_from_db()
    assert "behind b" in small.message


def test_quota_keeps_back_its_own_project_only(project: Project) -> None:
    tight = ProjectFactory(
        cluster=project.cluster, department=project.department, gpu_quota=1, over_quota=False
    )
    held = waiting(tight, "a", gpus=1)
    kept_back = waiting(tight, "b", gpus=1)
    other = waiting(project, "c", gpus=1)
    admission.admit_waiting(project.cluster)
    assert phases(held, kept_back, other) == [STARTED, WAITS, STARTED]
    kept_back.refresh_from_db()
    assert kept_back.reason == Reason.WAITING_FOR_QUOTA
    assert "the quota is 1" in kept_back.message


def test_over_quota_uses_what_is_free(project: Project) -> None:
    generous = ProjectFactory(
        cluster=project.cluster, department=project.department, gpu_quota=0, over_quota=True
    )
    assert admission.admit_waiting(generous.cluster) == 0
    workload = waiting(generous, "a", gpus=2)
    admission.admit_waiting(generous.cluster)
    assert phases(workload) == [STARTED]


def test_of_equal_claims_the_project_of_the_higher_rank_goes_first(project: Project) -> None:
    ranked = ProjectFactory(cluster=project.cluster, gpu_quota=4, rank=PriorityClass.HIGH)
    older = waiting(project, "a", gpus=3)
    first = waiting(ranked, "b", gpus=3)
    admission.admit_waiting(project.cluster)
    assert phases(older, first) == [WAITS, STARTED]


def test_a_second_round_changes_nothing(project: Project) -> None:
    waiting(project, "a", gpus=4)
    waiting(project, "b", gpus=4)
    admission.admit_waiting(project.cluster)
    events = Event.objects.count()
    assert admission.admit_waiting(project.cluster) == 0
    assert Event.objects.count() == events, "the cause is written down once"


def test_a_workload_stopped_during_its_admission_does_not_start(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = waiting(project, "a", gpus=1)

    def stopped_meanwhile(*args: object, **kwargs: object) -> object:
        Workload.objects.filter(pk=workload.pk).update(phase=P.STOPPING)
        return decide(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(admission, "decide", stopped_meanwhile)
    assert admission.admit_waiting(project.cluster) == 0
    assert phases(workload) == [P.STOPPING]


def test_holders_never_hold_more_than_the_machine_has(project: Project) -> None:
    for number in range(9):
        waiting(project, f"w{number}", gpus=number % 3 + 1)
    Project.objects.update(over_quota=True)
    for _ in range(9):
        admission.admit_waiting(project.cluster)
        held = Workload.objects.filter(phase__in=HOLDING_RESOURCES)
        used = [d for w in held for rank in w.ranks.all() for d in rank.gpu_devices]
        assert len(used) == len(set(used)) <= 4
        oldest = held.order_by("queued_at").first()
        assert oldest, "something always runs"
        Workload.objects.filter(pk=oldest.pk).update(phase=P.COMPLETED)
    assert phases(*Workload.objects.all()) == [P.COMPLETED] * 9
