"""A project and a member of it who submits workflows. No worker gets the tasks that are sent."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory


@pytest.fixture
def member(db: None) -> User:
    return UserFactory.create(username="maria")


@pytest.fixture
def project(member: User, sent: list[tuple[Any, ...]]) -> Project:
    return ProjectFactory.create(name="vision", members=[member])
