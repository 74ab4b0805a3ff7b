"""Wait for the database and for the tables of this version, before a container starts."""

import time
from collections.abc import Callable

from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from config.run.console import say

EVERY = 2.0  # seconds between two checks


def wait_for_database() -> None:
    _wait_while(_no_connection)


def wait_for_tables() -> None:
    """Wait until all migrations are applied. Tables of a later version will do, because each
    release keeps what the previous one needs."""
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
    said = ""
    while why := _answer(reason):
        if why != said:
            say(f"Waiting: {why}")
        said = why
        time.sleep(EVERY)


def _answer(reason: Callable[[], str]) -> str:
    """The reason to wait, also if the database does not answer; empty if there is none."""
    try:
        return reason()
    except OperationalError as error:
        connection.close()
        return f"the database does not answer, {' '.join(str(error).split())}"
