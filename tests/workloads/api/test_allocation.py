"""What projects, departments and clusters held is told from the events of their workloads."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
ASKED = {"start": "2026-11-25T12:00:00Z", "end": "2026-11-25T12:04:00Z", "numberOfSamples": 4}


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory.create(administrator=True))


@pytest.fixture
def vision() -> Project:
    return ProjectFactory.create(name="vision")


def went(workload: Workload, *phases: tuple[float, Phase]) -> Workload:
    """Through these, each so many minutes after noon."""
    Workload.objects.filter(pk=workload.pk).update(created_at=NOON - timedelta(hours=1))
    for minutes, phase in phases:
        at = NOON + timedelta(minutes=minutes)
        Event.objects.create(workload=workload, phase=phase, at=at)
    return workload


def values(call: Caller, path: str, name: str) -> list[str]:
    status, answer = call("GET", f"{path}/metrics?{urlencode({**ASKED, 'metricType': name})}")
    assert status == 200, answer
    (series,) = answer["measurements"]
    return [it["value"] for it in series["values"]]


def test_past_allocation_is_summed_over_the_workloads_of_a_project(
    admin: Caller, vision: Project
) -> None:
    went(
        WorkloadFactory.create(project=vision, gpus=2, cpu_cores=0.5, memory_bytes=3 * 10**9),
        (-5, Phase.INITIALIZING),
        (-4, Phase.RUNNING),
        (1.5, Phase.PENDING),
        (2.5, Phase.RUNNING),
    )
    went(WorkloadFactory.create(project=vision, gpus=1), (0.5, Phase.RUNNING), (3.5, Phase.FAILED))
    went(WorkloadFactory.create(project=vision, gpus=4), (-9, Phase.PENDING))
    project = f"/org-unit/projects/{vision.pk}"
    assert values(admin, project, "GPU_ALLOCATION") == ["3", "1", "3", "2"]
    department = f"/org-unit/departments/{vision.department_id}"
    assert values(admin, department, "GPU_ALLOCATION") == ["3", "1", "3", "2"]
    assert values(admin, f"/clusters/{vision.cluster_id}", "ALLOCATED_GPU") == ["3", "1", "3", "2"]
    assert values(admin, department, "CPU_ALLOCATION_MILLICORES")[0] == "800"
    assert values(admin, project, "CPU_MEMORY_ALLOCATION_MB")[0] == "3300"


def test_metrics_of_a_project_are_not_told_to_strangers(vision: Project) -> None:
    someone: User = UserFactory.create()
    asked = urlencode({**ASKED, "metricType": "GPU_ALLOCATION"})
    for path, status in (("projects", 404), ("departments", 403)):
        pk = vision.pk if path == "projects" else vision.department_id
        assert Caller(someone)("GET", f"/org-unit/{path}/{pk}/metrics?{asked}")[0] == status


def test_quotas_of_the_past_are_refused_by_metrics(admin: Caller, vision: Project) -> None:
    asked = urlencode({**ASKED, "metricType": "GPU_QUOTA"})
    status, refused = admin("GET", f"/org-unit/projects/{vision.pk}/metrics?{asked}")
    assert (status, "GPU_ALLOCATION" in refused["details"]) == (501, True)
