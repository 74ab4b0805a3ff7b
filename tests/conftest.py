"""Fixtures for all tests. Those of the browser are in ``tests/e2e/conftest.py``."""

import shutil
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from config import embedded
from config.run.programs import table as programs
from core import garbage
from core.broker import enqueue
from tests.cluster import KUBECONFIG, NO_CLUSTER, NO_NODE, RealCluster
from tests.migrated import copy_migrated
from tests.product import Trainyard
from tests.settings import TEST_HOME
from tests.waiting import wait_for

LAST_LINES = 40
# No deadline for examples: how long one takes depends on the load of the machine.
hypothesis_settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("any machine")
DATABASE = "--database"
#: Fixtures that use a database, also in tests without pytest-django's mark.
DATABASES = frozenset({"db", "transactional_db", "running_trainyard"})


garbage.tune_collector()


def pytest_collection_finish() -> None:
    """Leave the modules and tests out of further looks for garbage, which would take a sixth of all
    the tests' time."""
    garbage.tune_collector()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(DATABASE, action="store_true", help="only tests that ask a database")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--database``, select only tests that use a database: others would show nothing new on
    a second one."""
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
    """Add the worker's last lines to the report of a failed test of the whole product."""
    report = yield
    if report.failed and isinstance(product := item.funcargs.get("running_trainyard"), Trainyard):
        said = product.log("worker").splitlines()[-LAST_LINES:]
        report.sections.append(("The worker's last words", "\n".join(said)))
    return report


def pytest_unconfigure() -> None:
    shutil.rmtree(TEST_HOME, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _valkey_server() -> Iterator[None]:
    """A real server for each test process, started with the options of ``make run``."""
    program = programs.broker_program(TEST_HOME)
    with (TEST_HOME / "valkey.log").open("wb") as log:
        process = subprocess.Popen(program.argv, stdout=log, stderr=subprocess.STDOUT)
    wait_for(program.is_ready, message="Valkey to answer")
    yield
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="session", autouse=True)
def _no_permissions_of_django(django_test_environment: None) -> None:
    """Create no rows of Django's own permissions, which nothing reads: it would take most of the
    time after each test that commits, when all tables are emptied."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Put a migrated database where the tests' own will be, and let pytest-django keep it. It goes
    with the folder of this process."""
    database = settings.DATABASES["default"]
    if "sqlite" not in database["ENGINE"]:
        return False
    copy_migrated(Path(database["TEST"]["NAME"]))
    return True


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The tasks that were sent to workers, each with its id and queue. No worker gets them."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(enqueue, "send", lambda *told: found.append(told))
    return found


@pytest.fixture
def valkey() -> Iterator[redis.Redis]:
    """The broker and cache of this test process, emptied."""
    with redis.Redis.from_url(embedded.redis_url(TEST_HOME)) as client:
        client.flushall()
        yield client


@pytest.fixture(scope="session")
def running_trainyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainyard]:
    """The whole product, as ``make run`` starts it, with a new data folder and a free port."""
    home: Path = tmp_path_factory.mktemp("home")
    trainyard = Trainyard(home)
    trainyard.start()
    yield trainyard
    trainyard.stop()


@pytest.fixture(scope="session")
def api_server() -> RealCluster:
    """A cluster, which may have no nodes."""
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
