"""A researcher in a project of a cluster with four virtual GPUs, and the wizard for them."""

import pytest

from accounts.models import User
from clusters.models import NodePool
from projects.models import Project
from spec.framework import Framework
from tests.factories import ProjectFactory, UserFactory
from tests.workloads.wizard.browser import Wizard


@pytest.fixture
def owner() -> User:
    return UserFactory()


@pytest.fixture
def project(owner: User) -> Project:
    return ProjectFactory(name="team-a", gpu_quota=2, members=[owner])


@pytest.fixture
def wizard(project: Project, owner: User) -> Wizard:
    return Wizard(owner)


@pytest.fixture
def on_kubernetes(project: Project) -> Project:
    """The project on a Kubernetes cluster with two storage classes, a node pool and KAI, which is
    never asked."""
    cluster = project.cluster
    cluster.kind = "kubernetes"
    cluster.capabilities_json = {
        "frameworks": [{"framework": name, "available": True} for name in Framework],
        "queues": True,
        "schedulers": ["kai-scheduler"],
        "storage_classes": ["fast", "wide"],
        "priority_classes": ["low", "high"],
    }
    cluster.save()
    NodePool.objects.create(cluster=cluster, name="a100", label_key="gpu", label_value="a100")
    return project
