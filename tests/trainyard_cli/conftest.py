"""A researcher at a terminal, in one project of a cluster with four virtual GPUs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from projects.models import Project
from tests.certificates import certificate
from tests.factories import PASSWORD, ProjectFactory, UserFactory
from tests.trainyard_cli.terminal import Terminal


@pytest.fixture(scope="package", autouse=True)
def _one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have commands trust one authority instead of the 150 of the web: each command reads them, and
    the servers of these tests show no certificate."""
    path, _ = certificate(tmp_path_factory.mktemp("authority") / "authority.pem")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture
def researcher(transactional_db: None) -> User:
    return UserFactory(username="ada")


@pytest.fixture
def project(researcher: User) -> Project:
    return ProjectFactory(name="team-a", gpu_quota=2, members=[researcher])


@pytest.fixture
def nobody(live_server: LiveServer, tmp_path: Path, valkey: redis.Redis) -> Terminal:
    """A terminal in which nobody is signed in. The broker is emptied, because it counts sign-ins of
    other tests from this address."""
    return Terminal(live_server.url, tmp_path / "config" / "trainyard.json")


@pytest.fixture
def terminal(nobody: Terminal, project: Project, researcher: User) -> Terminal:
    """A terminal in which the researcher is signed in."""
    nobody.sign_in(researcher.username, PASSWORD)
    return nobody
