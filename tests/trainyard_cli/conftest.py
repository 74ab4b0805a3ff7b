"""A researcher at a terminal, in one project of a cluster with four virtual GPUs."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pytest_django.live_server_helper import LiveServer

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.certificates import certificate
from tests.factories import ProjectFactory, UserFactory
from tests.trainyard_cli.terminal import Terminal
from trainyard_cli.rest.profile import Profile


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
    """A terminal in which the researcher is signed in. Its file is as ``trainyard login`` leaves
    it, which has tests of its own."""
    key, secret = tokens.make_key(researcher, "trainyard on a machine")
    Profile(
        nobody.config,
        server=nobody.server,
        user=researcher.username,
        key_id=str(key.pk),
        client_id=key.client_id,
        client_secret=secret,
        token=tokens.access_token_for(researcher, key=key),
        expires=time.time() + tokens.LIFETIME.total_seconds(),
        project={
            "id": str(project.pk),
            "name": project.name,
            "clusterId": str(project.cluster_id),
        },
    ).save()
    return nobody
