"""These run on a cluster in memory."""

import pytest

from accounts.models import User
from projects.models import Project
from tests.factories import UserFactory, add_members
from tests.workloads.gangs import engine, project

__all__ = ["engine", "project"]


@pytest.fixture
def member(project: Project) -> User:
    found = UserFactory()
    add_members(project, found)
    return found
