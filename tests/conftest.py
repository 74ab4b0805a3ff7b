"""What every test may ask for. The browser's fixtures are in ``tests/e2e/conftest.py``."""

import shutil
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings

from config import embedded
from config.run.programs import table as programs
from core import storage
from core.broker import enqueue
from tests.cluster import KUBECONFIG, NO_CLUSTER, NO_NODE, RealCluster
from tests.product import Trainyard
from tests.settings import TEST_HOME
from tests.waiting import wait_for

LAST_LINES = 40
# How long an example takes is a matter of what else the machine does.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
DATABASE = "--database"
#: Fixtures that ask one, also of tests without pytest-django's mark.
DATABASES = frozenset({"db", "transactional_db", "running_trainyard"})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(DATABASE, action="store_true", help="only tests that ask a database")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A second database tells nothing new to a test that asks none."""
    if config.getoption(DATABASE):
        config.hook.pytest_deselected(items=[it for it in items if not _asks_database(it)])
        items[:] = filter(_asks_database, items)


def _asks_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not DATABASES.isdisjoint(fixtures)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the worker said last is told with a test of the whole product that failed."""
    report = yield
    if report.failed and isinstance(product := item.funcargs.get("running_trainyard"), Trainyard):
        said = product.log("worker").splitlines()[-LAST_LINES:]
        report.sections.append(("The worker's last words", "\n".join(said)))
    return report


def pytest_unconfigure() -> None:
    shutil.rmtree(TEST_HOME, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _valkey_server() -> Iterator[None]:
    """A real server per test process, the same program with the same options as ``make run``."""
    program = programs.valkey(TEST_HOME)
    with (TEST_HOME / "valkey.log").open("wb") as log:
        process = subprocess.Popen(program.argv, stdout=log, stderr=subprocess.STDOUT)
    wait_for(program.is_ready, message="Valkey to answer")
    yield
    process.terminate()
    process.wait(10)


@pytest.fixture(autouse=True)
def _trouble_ends_with_its_test() -> Iterator[None]:
    """What a test let the product remember of a disk would refuse the writes of the next one."""
    yield
    with redis.Redis.from_url(embedded.redis_url(TEST_HOME)) as client:
        client.delete(storage.KEY)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What workers were asked for: task, id and queue. Nobody is asked."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(enqueue, "send", lambda *told: found.append(told))
    return found


@pytest.fixture
def valkey() -> Iterator[redis.Redis]:
    """The empty broker and cache of this test process."""
    with redis.Redis.from_url(embedded.redis_url(TEST_HOME)) as client:
        client.flushall()
        yield client


@pytest.fixture(scope="session")
def running_trainyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainyard]:
    """The whole product as ``make run`` starts it, on a fresh data folder and a free port."""
    home: Path = tmp_path_factory.mktemp("home")
    trainyard = Trainyard(home)
    trainyard.start()
    yield trainyard
    trainyard.stop()


@pytest.fixture(scope="session")
def api_server() -> RealCluster:
    """A cluster, which may be without nodes."""
    if not KUBECONFIG:
        pytest.skip(NO_CLUSTER)
    cluster = RealCluster(Path(KUBECONFIG))
    cluster.disown()
    return cluster


@pytest.fixture(scope="session")
def real_cluster(api_server: RealCluster) -> RealCluster:
    """A cluster that runs pods."""
    if not api_server.has_nodes:
        pytest.skip(NO_NODE)
    return api_server
