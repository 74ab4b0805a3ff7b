"""A database whose migrations were since squashed into one goes on."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

FIRST = "0001_initial"
SQUASHED = {
    "accounts": "0002_access_keys",
    "assets": "",
    "clusters": "0002_connections 0003_settings_and_node_pools 0004_totals",
    "projects": "0002_department_quotas",
    "workloads": (
        "0002_table_indexes 0003_attempts 0004_search_index 0005_draft_order 0006_causes "
        "0007_handed_over 0008_cause_data 0009_preempted 0010_cause_program 0011_rank_order"
    ),
}
pytestmark = pytest.mark.django_db


def first_migrations_to_run() -> set[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return {step.app_label for step, _ in plan if step.name == FIRST}


def record(also: dict[str, str]) -> None:
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app__in=SQUASHED).delete()
    for app in SQUASHED:
        for name in (FIRST, *also.get(app, "").split()):
            recorder.record_applied(app, name)


def test_a_database_that_has_all_squashed_migrations_is_not_built_again() -> None:
    record(SQUASHED)
    assert first_migrations_to_run() == set()


def test_a_database_that_lacks_squashed_migrations_is_not_taken_for_whole() -> None:
    record({})
    assert first_migrations_to_run() == {app for app, names in SQUASHED.items() if names}
