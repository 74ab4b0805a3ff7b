"""Databases of released versions are brought up to date by migrations, and stay readable."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from accounts.permissions import PREDEFINED_ROLES
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
#: Rows of the first release: ada is a member of its project, with a key that only reads assets.
PEOPLE_OF_0_1_0 = """
INSERT INTO accounts_user (password, is_superuser, username, first_name, last_name, email, is_staff,
    is_active, date_joined, role)
SELECT '!', 0, 'ada', '', '', '', 0, 1, date_joined, 'researcher' FROM accounts_user;
INSERT INTO projects_project_members (project_id, user_id)
SELECT projects_project.id, accounts_user.id FROM projects_project, accounts_user
WHERE username = 'ada';
INSERT INTO accounts_accesskey (name, client_id, secret_hash, created_at, scopes, user_id)
SELECT 'ci', 'ci', '', date_joined, '["assets.read", "projects.read"]', id FROM accounts_user
WHERE username = 'ada';
"""
READ_RULES = """
from accounts.models import AccessKey, AccessRule

for rule in AccessRule.objects.order_by("pk"):
    print("rule:", rule)
for key in AccessKey.objects.all():
    print("key:", *key.scopes)
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


def roles_of(home: Path) -> list[tuple[int, str, str]]:
    """Return id, name and permissions of each role. New and upgraded databases have the same."""
    with sqlite3.connect(home / "trainyard.sqlite3") as database:
        rows = "SELECT id, name, permissions FROM accounts_accessrole ORDER BY id"
        return database.execute(rows).fetchall()


def upgraded(folder: Path, release: Path, more_rows: str = "") -> Path:
    """Return a data folder with the database of a release, migrated to this version."""
    home = folder / "upgraded"
    home.mkdir()
    with sqlite3.connect(home / "trainyard.sqlite3") as database:
        database.executescript(release.read_text() + more_rows)
    manage(home, "migrate", "--verbosity=0")
    return home


def test_the_first_release_is_among_the_databases() -> None:
    assert "0.1.0" in [release.stem for release in RELEASES]


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.stem)
def test_a_database_of_a_release_is_migrated_and_its_documents_are_read(
    release: Path, tmp_path: Path
) -> None:
    home = upgraded(tmp_path, release)
    new = tmp_path / "new"
    new.mkdir()
    manage(new, "migrate", "--verbosity=0")
    assert columns_of(home) == columns_of(new)
    assert roles_of(home) == roles_of(new)
    assert len(roles_of(new)) == len(PREDEFINED_ROLES)
    assert "from-this-release Completed 1" in manage(home, "shell", "-c", READ_DOCUMENTS)


def test_people_of_the_first_release_keep_what_they_had_as_access_rules(tmp_path: Path) -> None:
    (release,) = [release for release in RELEASES if release.stem == "0.1.0"]
    home = upgraded(tmp_path, release, PEOPLE_OF_0_1_0)
    lines = manage(home, "shell", "-c", READ_RULES).splitlines()
    assert [line for line in lines if line.startswith("rule:")] == [
        "rule: admin is System administrator in account",
        "rule: ada is L1 researcher in project:1",
    ]
    (scopes,) = [line.removeprefix("key: ") for line in lines if line.startswith("key:")]
    assert scopes.split() == [
        *("compute-resources.read", "credentials.read", "data-sources.read", "environments.read"),
        *("projects.read", "templates.read"),
    ]
