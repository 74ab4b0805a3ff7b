"""The examples that a fresh Trainyard begins with can be submitted on this machine as they are."""

import shutil

import pytest
from pytest_django import Settings

from accounts.models import User
from assets.compute.model import ComputeResource
from assets.environment.model import Environment
from clusters.models import Cluster
from config.settings import LOCAL_IMAGES
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.framework import Framework, Head
from tests.factories import ProjectFactory, UserFactory
from workloads import demo
from workloads.plan import plan

pytestmark = pytest.mark.django_db
FRAMEWORKS = {name: it[1] for name, it in demo.IMAGES.items() if it[1]}


@pytest.fixture
def member(settings: Settings) -> User:
    settings.LOCAL_IMAGES = LOCAL_IMAGES  # without what tests add
    UserFactory(administrator=True)
    return UserFactory()


@pytest.fixture
def project(member: User) -> Project:
    project = ProjectFactory()
    cluster: Cluster = project.cluster
    department = project.department
    project.delete()
    demo.make(cluster, department)
    return ProjectFactory(cluster=cluster, department=department, members=[member])


def draft(project: Project, name: str, framework: str) -> WorkloadDraft:
    environment = Environment.objects.get(name=name)
    size = ComputeResource.objects.get(name="cpu-only")
    assert environment.scope == "account"
    alone = Framework(framework).traits.head is Head.NONE
    return WorkloadDraft(
        name="example",
        cluster=project.cluster_id,
        project=project.pk,
        framework=framework,
        architecture="workers_only" if alone else "workers_and_master",
        worker=ReplicaDraft(assets={"environment": environment.pk, "compute": size.pk}),
        values={"numWorkers": 2},
    )


def test_there_is_an_example_of_each_framework() -> None:
    assert set(FRAMEWORKS.values()) == set(Framework)
    assert list(FRAMEWORKS) == ["pytorch", "tensorflow", "xgboost", "mpi", "jax"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_image_of_an_example_is_known_here(project: Project, member: User, name: str) -> None:
    if name == "mpi" and not shutil.which("mpirun"):
        pytest.skip("there is no Open MPI here")
    planned = plan(draft(project, name, FRAMEWORKS[name]), by=member)
    assert planned.is_submittable, planned.problems
