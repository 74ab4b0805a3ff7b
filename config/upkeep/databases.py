"""Copy the database of this installation while others write, and put one back."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.conf import settings

from config.upkeep.archive import ArchivedFile
from config.upkeep.errors import UpkeepError
from config.upkeep.postgresql import PostgresqlDatabase


class SqliteDatabase:
    """The SQLite database of this installation: a file, and its write-ahead log."""

    kind = "SQLite"
    part = "database.sqlite3"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.staged = path.with_name(f"{path.name}.restored")

    def __str__(self) -> str:
        return str(self.path)

    def is_empty(self) -> bool:
        """Whether it has no tables. A damaged database is not empty."""
        if not self.path.exists() or not self.path.stat().st_size:
            return True
        try:
            with closing(self._open(self.path)) as database:
                return not database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        except sqlite3.DatabaseError:
            return False

    def save(self, target: Path) -> None:
        """Copy the database at one moment, all pages in one step. Writers do not wait."""
        with self._readable(self.path) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode=DELETE")  # a single file without a write-ahead log
            self._check(copy, self.path)

    def stage(self, file: ArchivedFile) -> None:
        """Prepare the archive's database next to the current one. Raises ``UpkeepError`` if it
        cannot be read."""
        file.copy_to(self.staged)
        with self._readable(self.staged) as database:
            self._check(database, self.staged)

    def swap(self) -> None:
        for suffix in ("-wal", "-shm"):  # SQLite would apply those of the old file to the new one
            self.path.with_name(f"{self.path.name}{suffix}").unlink(missing_ok=True)
        self.staged.replace(self.path)

    def discard(self) -> None:
        self.staged.unlink(missing_ok=True)

    @contextmanager
    def _readable(self, path: Path) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._open(path)) as database:
                yield database
        except sqlite3.DatabaseError as error:
            raise UpkeepError(f"The database {path} cannot be read: {error}") from error

    def _open(self, path: Path) -> sqlite3.Connection:
        return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=30)

    def _check(self, database: sqlite3.Connection, path: Path) -> None:
        (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise UpkeepError(f"The database {path} is damaged: {answer}")


def installed_database() -> SqliteDatabase | PostgresqlDatabase:
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        return SqliteDatabase(Path(database["NAME"]).resolve())
    return PostgresqlDatabase(database, Path(settings.HOME))
