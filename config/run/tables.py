"""Wait for the database and for the tables of this version, before a container starts."""

import time
from collections.abc import Callable

from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from config.run.console import say

INTERVAL = 2.0  # seconds between two checks


def wait_for_database() -> None:
    _wait_while(_no_connection)


def wait_for_tables() -> None:
    """Wait until all migrations are applied. Tables of a later version are accepted, because each
    release keeps what the previous release needs."""
    _wait_while(_missing_migrations)


def _no_connection() -> str:
    connection.ensure_connection()
    return ""


def _missing_migrations() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"the tables are not up to date, migrations to come: {len(plan)}" if plan else ""


def _wait_while(reason: Callable[[], str]) -> None:
    """Wait while there is a reason, and print each new one once."""
    printed = ""
    while text := _reason_to_wait(reason):
        if text != printed:
            say(f"Waiting: {text}")
        printed = text
        time.sleep(INTERVAL)


def _reason_to_wait(reason: Callable[[], str]) -> str:
    """Return the reason to wait, which may be that the database does not answer, or ``""``."""
    try:
        return reason()
    except OperationalError as error:
        connection.close()
        return f"the database does not answer, {' '.join(str(error).split())}"
