"""The factories that other tests rely on."""

import pytest

from spec.phases import Phase
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)

PHASES = [phase for phase in Phase if phase not in {Phase.CREATING, Phase.RESUMING}]


@pytest.mark.django_db
@pytest.mark.parametrize("phase", PHASES)
def test_a_workload_has_a_trait_for_its_phase(phase: Phase) -> None:
    workload = WorkloadFactory(**{phase.lower(): True})
    assert workload.phase == phase
    assert [rank.name for rank in workload.ranks.all()] == ["master-0", "worker-0", "worker-1"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "make", [EnvironmentFactory, ComputeResourceFactory, TemplateFactory], ids=lambda f: f.__name__
)
def test_an_asset_belongs_where_its_trait_says(make: type) -> None:
    project = ProjectFactory(members=[UserFactory()])
    assert make(home=project).scope_name == f"Project {project}"
    assert make(home=project, in_department=True).scope_name == f"Department {project.department}"
    assert make(home=project, in_cluster=True).scope_name == f"Cluster {project.cluster}"
