"""One process a container: each starts by itself, shows that it lives, and ends at SIGTERM."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config import embedded
from config.run.install import ROOT
from tests.product import free_port
from tests.settings import TEST_HOME
from tests.waiting import wait_for

pytestmark = pytest.mark.faults

# seconds
START = 40.0
END = 20.0


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("container")
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TRAINYARD_HOME": str(home),
        "TRAINYARD_LOCAL_ENGINE": "off",
        "TRAINYARD_ADMIN_PASSWORD": "a long enough password",
        "DATABASE_URL": f"sqlite:///{home}/data.sqlite3",
        "REDIS_URL": embedded.redis_url(TEST_HOME),
        "PORT": str(free_port()),
        "HOST": "127.0.0.1",
    }


def command(name: str) -> list[str]:
    return [sys.executable, "-m", "config.run.process", name]


@pytest.fixture(scope="module")
def prepared(environment: dict[str, str]) -> str:
    """What ``prepare`` said the second time."""
    for _ in range(2):
        done = subprocess.run(
            command("prepare"),
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def running(name: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    log = Path(environment["TRAINYARD_HOME"]) / f"{name}.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(name), cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
        process.terminate()
        # uvicorn, once it has closed, ends by the very signal.
        assert process.wait(END) in {0, -signal.SIGTERM}, log.read_text()
    finally:
        process.kill()
        process.wait()


def status(environment: dict[str, str], path: str) -> int:
    web = http.client.HTTPConnection("127.0.0.1", int(environment["PORT"]), timeout=5)
    try:
        web.request("GET", path, headers={"Host": "localhost"})
        return web.getresponse().status
    except OSError:
        return 0
    finally:
        web.close()


def test_preparing_again_changes_nothing(prepared: str) -> None:
    assert "First administrator" not in prepared


@pytest.mark.usefixtures("prepared")
def test_web_serves_without_the_others_and_ends_when_told(environment: dict[str, str]) -> None:
    with running("web", environment):
        wait_for(lambda: status(environment, "/healthz?of=database") == 200, START, "web")
        assert status(environment, "/healthz") == 503
        assert status(environment, "/accounts/login/") == 200


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("name", ["worker", "beat"])
def test_each_process_shows_that_it_lives_and_ends_when_told(
    environment: dict[str, str], name: str
) -> None:
    with running(name, environment):
        sign = Path(environment["TRAINYARD_HOME"]) / "run" / f"{name}.alive"
        wait_for(sign.exists, START, f"{name} to be alive")


@contextmanager
def speaking(
    name: str, environment: dict[str, str]
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """One that waits, with the first thing it says."""
    with subprocess.Popen(
        command(name), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def test_the_wait_command_ends_when_the_tables_are_there(
    environment: dict[str, str], tmp_path: Path
) -> None:
    fresh = environment | {"DATABASE_URL": f"sqlite:///{tmp_path}/data.sqlite3"}
    with speaking("wait", fresh) as (process, said):
        assert "Waiting: the tables are not up to date" in said
        subprocess.run(command("prepare"), cwd=ROOT, env=fresh, check=True)
        assert process.wait(START) == 0


@pytest.mark.parametrize("name", ["prepare", "wait"])
def test_each_process_waits_for_the_database_and_ends_when_told(
    environment: dict[str, str], name: str
) -> None:
    nobody = environment | {"DATABASE_URL": f"postgresql://me@127.0.0.1:{free_port()}/none"}
    with speaking(name, nobody) as (process, said):
        assert "Waiting: the database does not answer" in said
        process.terminate()
        assert process.wait(END) == 128 + signal.SIGTERM
