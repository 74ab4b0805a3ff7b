"""Restore an archive: unpack and check it next to the current data, then swap them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db.migrations.loader import MigrationLoader

from config import env
from config.run.home import UNFINISHED
from config.upkeep import archive, databases
from config.upkeep.archive import LOG_NAME, ArchivedFile, Manifest
from config.upkeep.errors import UpkeepError
from config.upkeep.stopped import keep_stopped

NOT_OURS = "{} is not a backup of Trainyard: {}."


def restore(path: Path, *, replace: bool) -> Manifest:
    """Restore an archive and return its manifest.

    Raises ``UpkeepError``, and changes nothing, if the archive cannot be read, comes from a later
    version, or would overwrite data without ``replace``.
    """
    with keep_stopped(), Restoration(path).clean_up() as restoration:
        if not replace and (existing := restoration.existing_data()):
            raise UpkeepError(
                f"{existing} is not empty. Add --replace to overwrite it; its data is lost then, "
                "so make a backup of it first if it can be read."
            )
        with archive.explain_damage(path):
            restoration.unpack()
        restoration.swap()
        return restoration.manifest


class Restoration:
    """The restoration of one archive."""

    manifest: Manifest
    keys: list[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = Path(settings.HOME)
        self.database = databases.installed_database()
        self.logs = Path(settings.LOG_STORE)
        self.new_logs = self.logs / ".restored"
        self.old_logs = self.logs / ".replaced"

    def existing_data(self) -> str:
        if not self.database.is_empty():
            return str(self.database)
        return str(self.logs) if any(self.other_entries(self.logs)) else ""

    def other_entries(self, folder: Path) -> Iterator[Path]:
        """Yield the entries of a folder, except those of a restoration."""
        if folder.is_dir():
            yield from (it for it in folder.iterdir() if it not in (self.new_logs, self.old_logs))

    @contextmanager
    def clean_up(self) -> Iterator["Restoration"]:
        """Remove the scratch files of this attempt afterwards, and before it those of an attempt
        that was killed."""
        self.remove_scratch()
        try:
            yield self
        finally:
            self.remove_scratch()

    def remove_scratch(self) -> None:
        self.database.discard()
        for folder in (self.new_logs, self.old_logs):
            if folder.exists():
                shutil.rmtree(folder)

    def unpack(self) -> None:
        """Unpack each part next to its final place."""
        files = archive.read_parts(self.path)
        first = next(files, None)
        if first is None or first.name != archive.MANIFEST:
            raise UpkeepError(NOT_OURS.format(self.path, "it does not begin with its manifest"))
        self.manifest = Manifest.decode(first.data.read())
        self.check_manifest()
        names = set(self.read_files(files))
        if missing := {archive.KEYS, self.database.part} - names:
            raise UpkeepError(NOT_OURS.format(self.path, f"{' and '.join(missing)} lacks"))

    def check_manifest(self) -> None:
        if self.manifest.database != self.database.kind:
            raise UpkeepError(
                f"The archive is of {self.manifest.database}, and DATABASE_URL names "
                f"{self.database.kind}. Restore it where the database is of the same kind."
            )
        if later := migrations_of_later_versions(self.manifest.migrations):
            raise UpkeepError(
                f"The archive is from a newer Trainyard: this version does not have {later[0]}"
                f"{f' and {len(later) - 1} more migrations' if len(later) > 1 else ''}. Restore it "
                "with that version or a later one."
            )

    def read_files(self, files: Iterator[ArchivedFile]) -> Iterator[str]:
        for file in files:
            if file.name == archive.KEYS:
                self.keys = file.data.read().decode().splitlines()
                self.check_keys()
            elif file.name == self.database.part:
                self.database.stage(file)
            elif LOG_NAME.fullmatch(file.name):
                target = self.new_logs / file.name.removeprefix("logs/")
                target.parent.mkdir(parents=True, exist_ok=True)
                file.copy_to(target)
            else:
                raise UpkeepError(NOT_OURS.format(self.path, f"it holds {file.name}"))
            yield file.name

    def check_keys(self) -> None:
        """Check a key from the environment, which overrides the file: it must be the archive's."""
        if not env.is_key_in_environment() or set(self.keys) <= set(env.secret_keys(self.home)):
            return
        raise UpkeepError(
            "TRAINYARD_SECRET_KEY is not the key of the archive, and could not read what it "
            f"encrypted. Set it to the first line of: tar -xOzf {self.path} {archive.KEYS}"
        )

    def swap(self) -> None:
        """Put everything in place. A mark exists meanwhile: Trainyard does not start while there is
        one, such as after a restore that was killed."""
        mark = self.home / UNFINISHED
        mark.write_text(f"{self.path}\n")
        try:
            self.database.swap()
        except UpkeepError:
            mark.unlink()  # the database was not changed
            raise
        self.swap_keys()
        self.swap_logs()
        mark.unlink()

    def swap_keys(self) -> None:
        """Replace the keys. The old keys stay in a file beside them, because a database elsewhere
        may need them."""
        path = self.home / "secret_key"
        if env.is_key_in_environment() or (path.exists() and env.read_keys(path) == self.keys):
            return
        if path.exists():
            env.write_keys(path.with_name("secret_key.before-restore"), env.read_keys(path))
        env.write_keys(path, self.keys)

    def swap_logs(self) -> None:
        """Replace the logs folder by folder, because their root may be a volume, which cannot be
        renamed."""
        self.old_logs.mkdir(parents=True, exist_ok=True)
        for folder in list(self.other_entries(self.logs)):
            folder.replace(self.old_logs / folder.name)
        for folder in list(self.new_logs.iterdir() if self.new_logs.is_dir() else []):
            folder.replace(self.logs / folder.name)


def migrations_of_later_versions(names: list[str]) -> list[str]:
    """Return the migrations that this version lacks, of apps that it has."""
    ours = set(MigrationLoader(None).disk_migrations)
    apps = {app for app, _ in ours}
    split = [tuple(name.split(".", 1)) for name in names]
    return [".".join(it) for it in split if it[0] in apps and it not in ours]
