"""The same commands where the database is PostgreSQL's: with its own programs, on a real server."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from config.env import env_database
from config.upkeep.postgresql import PostgresqlDatabase
from tests.product import Trainyard

ADD_SECRET = """
from clusters.models import Cluster, Connection
cluster = Cluster.objects.create(name="forge", kind="kubernetes")
Connection.objects.create(cluster=cluster, secret_json="the kubeconfig")
"""
READ_SECRET = "from clusters.models import *; print(Connection.objects.get().secret_json)"


def server_version() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        return int(cursor.fetchone()[0]) // 10000


@pytest.fixture
def installation(tmp_path: Path, db: None) -> Iterator[Trainyard]:
    """With a database of its own on the server of the tests."""
    if connection.vendor != "postgresql":
        pytest.skip("DATABASE_URL is not PostgreSQL's")
    client = shutil.which("pg_dump")
    server = server_version()
    version = subprocess.run([client, "-V"], capture_output=True, text=True) if client else None
    if version is None or int(version.stdout.split()[2].split(".")[0]) < server:
        pytest.skip(f"pg_dump of PostgreSQL {server} is not installed")
    name = f"upkeep_{uuid.uuid4().hex[:12]}"
    url = os.environ["DATABASE_URL"]
    before, _, after = url.partition("?")
    own = f"{before.rsplit('/', 1)[0]}/{name}{f'?{after}' if after else ''}"
    home = tmp_path / "home"
    home.mkdir()
    with psycopg.connect(url, autocommit=True) as server_connection:
        server_connection.execute(f"CREATE DATABASE {name}")
        yield Trainyard(home, DATABASE_URL=own)
        server_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_an_archive_goes_from_database_to_database(installation: Trainyard, tmp_path: Path) -> None:
    trainyard = installation
    archive = str(tmp_path / "backup")
    trainyard.manage("migrate", "-v0")
    trainyard.manage("shell", "--no-imports", "-c", ADD_SECRET)
    trainyard.manage("backup", archive)

    with psycopg.connect(trainyard.environment["DATABASE_URL"], autocommit=True) as database:
        database.execute("CREATE TABLE of_a_later_version (id serial PRIMARY KEY)")
        database.execute("DELETE FROM clusters_connection")
        with pytest.raises(AssertionError, match="is not empty"):
            trainyard.manage("restore", archive)
        (trainyard.home / "secret_key").unlink()
        trainyard.manage("restore", archive, "--replace")
        tables = database.execute("SELECT tablename FROM pg_tables").fetchall()
    assert ("of_a_later_version",) not in tables
    assert trainyard.manage("shell", "--no-imports", "-c", READ_SECRET) == "the kubeconfig\n"
    assert "No planned migration operations" in trainyard.manage("migrate", "--plan")
    assert {path.name for path in trainyard.home.iterdir()} == {
        *("secret_key", "secret_key.before-restore", "logs", "run"),
    }


def test_a_restore_that_fails_in_the_middle_changes_nothing(
    installation: Trainyard, tmp_path: Path
) -> None:
    trainyard = installation
    archive = str(tmp_path / "backup")
    trainyard.manage("migrate", "-v0")
    trainyard.manage("backup", archive)
    trainyard.manage("shell", "--no-imports", "-c", ADD_SECRET)
    key = (trainyard.home / "secret_key").read_text()
    with psycopg.connect(trainyard.environment["DATABASE_URL"]) as database:
        database.execute("SELECT * FROM clusters_connection")  # and the transaction stays open
        with pytest.raises(AssertionError, match="lock timeout"):
            trainyard.manage("restore", archive, "--replace")
    assert (trainyard.home / "secret_key").read_text() == key
    assert trainyard.manage("shell", "--no-imports", "-c", READ_SECRET) == "the kubeconfig\n"
    assert not (trainyard.home / "restore.unfinished").exists()


def test_the_password_is_told_by_the_environment_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = "postgresql://me:p%40ss@db.example:5433/trainyard?sslmode=require&connect_timeout=3"
    monkeypatch.setenv("DATABASE_URL", url)
    database = PostgresqlDatabase(env_database("DATABASE_URL", tmp_path), tmp_path)
    assert database.environment() == {
        "PGDATABASE": "trainyard",
        "PGUSER": "me",
        "PGPASSWORD": "p@ss",
        "PGHOST": "db.example",
        "PGPORT": "5433",
        "PGSSLMODE": "require",
        "PGCONNECT_TIMEOUT": "3",
    }
    (tmp_path / "pg_dump").write_text('#!/bin/sh\necho "$@" "$PGPASSWORD" > "$PGDATABASE.said"\n')
    (tmp_path / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)
    database.save(tmp_path / "dump")
    *arguments, password = (tmp_path / "trainyard.said").read_text().split()
    assert password == "p@ss"
    assert not [it for it in arguments if "p@ss" in it or "me" in it.split("=")]
