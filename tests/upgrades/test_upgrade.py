"""Databases of released versions are brought up to date by migrations, and stay readable."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from config.run.install import ROOT

pytestmark = pytest.mark.extended
RELEASES = sorted(Path(__file__).parent.glob("*.sql"))
#: Reads every stored document by the door that lifts older ones.
READ_DOCUMENTS = """
from django.apps import apps
from assets.fields import DocumentField
from workloads.models import Workload

for model in apps.get_models():
    columns = [field.name for field in model._meta.fields if isinstance(field, DocumentField)]
    for row in model.objects.all() if columns else []:
        assert all(isinstance(getattr(row, name), dict) for name in columns), row
        assert not columns[0] == "spec_json" or row.spec
for workload in Workload.objects.all():
    print(workload.name, workload.phase, workload.spec.num_workers)
"""


def manage(home: Path, *arguments: str) -> str:
    """Run ``manage.py`` on a data folder, and return what it prints."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TRAINYARD_HOME": str(home),
        "DATABASE_URL": "",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def columns_of(home: Path) -> dict[str, set[str]]:
    """Return the columns of each table, with their types."""
    with sqlite3.connect(home / "trainyard.sqlite3") as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {
            table: {
                f"{name} {kind}"
                for _, name, kind, *_ in database.execute(f"PRAGMA table_info({table})")
            }
            for (table,) in tables
        }


def test_the_first_release_is_among_the_databases() -> None:
    assert "0.1.0" in [release.stem for release in RELEASES]


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.stem)
def test_a_database_of_a_release_is_migrated_and_its_documents_are_read(
    release: Path, tmp_path: Path
) -> None:
    home = tmp_path / "upgraded"
    home.mkdir()
    with sqlite3.connect(home / "trainyard.sqlite3") as database:
        database.executescript(release.read_text())
    manage(home, "migrate", "--verbosity=0")
    new = tmp_path / "new"
    new.mkdir()
    manage(new, "migrate", "--verbosity=0")
    assert columns_of(home) == columns_of(new)
    assert "from-this-release Completed 1" in manage(home, "shell", "-c", READ_DOCUMENTS)
