"""A project with a member, and a folder of versions of its own."""

from pathlib import Path

import pytest
from pytest_django import Settings

from accounts.models import User
from assets.data_source.model import DataSource
from projects.models import Project
from tests.datasets import make_dataset
from tests.factories import ProjectFactory, UserFactory


@pytest.fixture(autouse=True)
def datasets_folder(settings: Settings, tmp_path: Path) -> Path:
    """The folder with the versions."""
    settings.DATASETS = tmp_path / "datasets"
    return tmp_path / "datasets"


@pytest.fixture
def user(db: None) -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(name="vision", members=[user])


@pytest.fixture
def dataset(project: Project, user: User) -> DataSource:
    return make_dataset(project, user)
