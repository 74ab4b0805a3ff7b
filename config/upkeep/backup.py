"""Make an archive of everything that a new machine needs, while Trainyard runs."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from config.upkeep import archive, databases
from config.upkeep.archive import Manifest, Writer
from config.upkeep.errors import UpkeepError
from workloads.logs import store


def back_up(path: Path) -> Manifest:
    """Write an archive: the database at one moment, then the logs. Logs may be slightly newer,
    which does no harm, because Trainyard reads on from the end of each."""
    database = databases.installed_database()
    migrations = applied_migrations(str(database))
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    manifest = Manifest.now(database.kind, migrations)
    with (
        archive.create_archive(path) as writer,
        tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch,
    ):
        writer.add_bytes(archive.MANIFEST, manifest.encode())
        writer.add_bytes(archive.KEYS, "".join(f"{key}\n" for key in keys).encode())
        copy = Path(scratch) / database.part
        database.save(copy)
        with copy.open("rb") as file:
            writer.add_file(database.part, file, copy.stat().st_size)
        copy.unlink()
        for workload_id in workloads_with_logs():
            add_logs(writer, workload_id)
    return manifest


def applied_migrations(database: str) -> list[str]:
    try:
        migrations = MigrationRecorder(connection).applied_migrations()
    except DatabaseError as error:
        raise UpkeepError(f"{database} cannot be read: {error}") from error
    if not migrations:
        raise UpkeepError(f"There is nothing to back up: {database} has no tables.")
    return [f"{app}.{name}" for app, name in migrations]


def workloads_with_logs() -> Iterator[UUID]:
    root = Path(settings.LOG_STORE)
    names = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
    for name in names:
        try:
            yield UUID(name)
        except ValueError:
            continue  # not the folder of a workload


def add_logs(writer: Writer, workload_id: UUID) -> None:
    """Add the logs of a workload, except any that are deleted meanwhile."""
    root = f"logs/{workload_id}"
    for stream in store.streams(workload_id):
        try:
            with store.open_snapshot(stream) as part:
                mode = stream.path.stat().st_mode
                writer.add_file(f"{root}/{stream.path.name}", part.log, part.size, mode)
                writer.add_bytes(f"{root}/{stream.index_path.name}", part.index)
                if part.first:
                    writer.add_bytes(f"{root}/{stream.first_path.name}", str(part.first).encode())
                if part.cursor:
                    writer.add_bytes(f"{root}/{stream.cursor_path.name}", part.cursor)
        except FileNotFoundError:
            continue
