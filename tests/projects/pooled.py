"""A project on a cluster with two node pools besides the default one."""

import pytest

from clusters.models import Cluster, NodePool
from projects.models import Project
from tests.factories import ClusterFactory, ProjectFactory


@pytest.fixture
def cluster(db: None) -> Cluster:
    cluster: Cluster = ClusterFactory(kind="kubernetes", name="prod")
    for name in ("a100", "t4"):
        NodePool.objects.create(cluster=cluster, name=name, label_key="gpu", label_value=name)
    return cluster


@pytest.fixture
def project(cluster: Cluster) -> Project:
    project: Project = ProjectFactory(cluster=cluster, name="vision", gpu_quota=4)
    return project
