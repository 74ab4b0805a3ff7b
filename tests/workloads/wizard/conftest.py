"""A researcher in a project of a cluster with four virtual GPUs, and the wizard before them."""

import pytest

from accounts.models import User
from projects.models import Project
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
