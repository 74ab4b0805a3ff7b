"""A small installation in a folder: a database, a key and a log."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import Settings

from config import env
from config.env import SQLITE_PRAGMAS
from config.upkeep import databases
from config.upkeep.databases import SqliteDatabase
from workloads.logs import store
from workloads.logs.store import Stream

STREAM = Stream(UUID(int=7), 0, 0, 0)


@dataclass
class Place:
    """An installation. Commands work in it once it is ``entered``."""

    home: Path
    settings: Settings
    monkeypatch: pytest.MonkeyPatch

    @property
    def database(self) -> Path:
        return self.home / "trainyard.sqlite3"

    @property
    def key(self) -> Path:
        return self.home / "secret_key"

    def entered(self) -> "Place":
        """Make it the installation of this process, and create its key."""
        self.home.mkdir(exist_ok=True)
        self.settings.HOME = self.home
        self.settings.LOG_STORE = self.home / "logs"
        self.settings.REDIS_URL = f"unix://{self.home}/nobody"
        keys = env.secret_keys(self.home)
        self.settings.SECRET_KEY = keys[0]
        self.settings.SECRET_KEY_FALLBACKS = keys[1:]
        self.monkeypatch.setattr(
            databases, "installed_database", lambda: SqliteDatabase(self.database)
        )
        return self

    def filled(self, row: str) -> "Place":
        """Add a table with one row, and a log with one line."""
        with closing(self.connect()) as database, database:
            database.execute("CREATE TABLE things (name)")
            database.execute("INSERT INTO things VALUES (?)", [row])
        store.append(STREAM, f"{row} says hello\n".encode())
        return self

    def connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.database)
        database.executescript(SQLITE_PRAGMAS)
        return database

    def rows(self) -> list[str]:
        with closing(self.connect()) as database:
            return [name for (name,) in database.execute("SELECT name FROM things")]

    def log(self) -> str:
        return store.read_output(STREAM, 0, 100).decode()

    def files(self) -> set[str]:
        """Return the names of all files, without the lock and those that belong to an open
        database."""
        files = {str(it.relative_to(self.home)) for it in self.home.rglob("*") if it.is_file()}
        return {name for name in files if not name.startswith(("run/", "trainyard.sqlite3-"))}
