"""A project whose quota and cluster have room for whatever a test submits."""

from typing import Any

from projects.models import Project
from tests.factories import ClusterFactory, ProjectFactory


def roomy_project(**also: Any) -> Project:
    return ProjectFactory(cluster=ClusterFactory(nodes=40), gpu_quota=10_000, **also)
