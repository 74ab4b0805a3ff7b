"""A generator of clients, the OpenAPI document, and a running server to call."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from config.run.install import ROOT, install_lock, is_stamped, write_stamp
from projects.models import Project
from tests.factories import ComputeResourceFactory, ProjectFactory, UserFactory

#: An environment of its own, because its requirements contradict ours.
GENERATORS = ROOT / ".venv-clients"
LOCK = Path(__file__).with_name("requirements.txt")
PASSWORD = "analytical-engine"


@pytest.fixture(scope="session")
def generator() -> Path:
    """The path of openapi-python-client, which is installed on first use."""
    with install_lock():
        if not is_stamped(GENERATORS, LOCK):
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", GENERATORS], check=True)
            python = GENERATORS / "bin" / "python"
            pip: list[str | Path] = [
                sys.executable,
                "-m",
                "pip",
                "--python",
                python,
                "install",
                "--quiet",
            ]
            done = subprocess.run(
                [*pip, "--no-deps", "--no-compile", "-r", str(LOCK)],
                check=False,
                text=True,
                capture_output=True,
            )
            if done.returncode and "CI" not in os.environ:
                pytest.skip(f"openapi-python-client cannot be installed: {done.stderr[-300:]}")
            assert not done.returncode, done.stderr
            write_stamp(GENERATORS, LOCK)
    return GENERATORS / "bin" / "openapi-python-client"


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the OpenAPI document."""
    from django.core.management import call_command

    path = tmp_path_factory.mktemp("described") / "openapi.json"
    with path.open("w") as file:
        call_command("openapi", stdout=file)
    return path


@pytest.fixture
def ada(transactional_db: None, sent: object) -> User:
    """An administrator, without workers behind the server."""
    user: User = UserFactory.create(username="ada", administrator=True)
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def project(ada: User) -> Project:
    project: Project = ProjectFactory.create(name="vision", members=[ada])
    ComputeResourceFactory.create(home=project, name="small")
    return project


@pytest.fixture
def served(live_server: Any, project: Project) -> str:
    """The address of a running server, with a project to work in."""
    return str(live_server.url)
