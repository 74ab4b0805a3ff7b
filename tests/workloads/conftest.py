"""Users who look at a workload: a member of its project, an administrator, and a stranger."""

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Project
from tests.factories import ProjectFactory, UserFactory, WorkloadFactory
from tests.web import signed_in
from workloads.models import Workload


@pytest.fixture
def member(db: None) -> User:
    return UserFactory(username="maria")


@pytest.fixture
def stranger(db: None) -> User:
    return UserFactory(username="stranger")


@pytest.fixture
def administrator(db: None) -> User:
    return UserFactory(username="root", administrator=True)


@pytest.fixture
def project(member: User) -> Project:
    return ProjectFactory(name="team-a", members=[member])


@pytest.fixture
def workload(project: Project, member: User) -> Workload:
    return WorkloadFactory(name="digits", project=project, created_by=member, running=True)


@pytest.fixture
def client(member: User) -> Client:
    """A browser in which the member is signed in."""
    return signed_in(member)
