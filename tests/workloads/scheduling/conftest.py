"""These run on a cluster in memory."""

import pytest

from accounts.models import User
from projects.models import Project
from tests.factories import UserFactory
from tests.workloads.gangs import engine, project

__all__ = ["engine", "project"]


@pytest.fixture
def member(project: Project) -> User:
    found = UserFactory()
    project.members.add(found)
    return found
