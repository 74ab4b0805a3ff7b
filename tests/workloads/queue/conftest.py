"""A machine after admission has decided."""

import pytest

from projects.models import Project
from tests.factories import ProjectFactory
from tests.workloads.gangs import waiting
from workloads.scheduling import admission


@pytest.fixture
def other_project(project: Project) -> Project:
    """A project on the same machine that the member of ``project`` cannot see."""
    return ProjectFactory(
        name="hidden", cluster=project.cluster, department=project.department, gpu_quota=0
    )


@pytest.fixture
def decided(project: Project, other_project: Project) -> Project:
    """Two guests took all GPUs, and one of them is preempted for the owner's first workload. The
    owner's second one waits."""
    for name in ("guest", "zanzibar"):
        waiting(other_project, name, 2)
    admission.admit_waiting(project.cluster)
    waiting(project, "claim", 2)
    waiting(project, "behind", 4)
    admission.admit_waiting(project.cluster)
    return project
