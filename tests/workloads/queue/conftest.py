"""A machine on which admission has decided something."""

import pytest

from projects.models import Project
from tests.factories import ProjectFactory
from tests.workloads.gangs import waiting
from workloads.scheduling import admission


@pytest.fixture
def others(project: Project) -> Project:
    """On the same machine, closed to the member of ``project``."""
    return ProjectFactory(
        name="hidden", cluster=project.cluster, department=project.department, gpu_quota=0
    )


@pytest.fixture
def decided(project: Project, others: Project) -> Project:
    """Two guests on all GPUs, the second of them taken back for the owner, whose next one waits."""
    for name in ("guest", "zanzibar"):
        waiting(others, name, 2)
    admission.admit(project.cluster)
    waiting(project, "claim", 2)
    waiting(project, "behind", 4)
    admission.admit(project.cluster)
    return project
