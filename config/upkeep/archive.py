"""The file of a backup: a gzipped tar that only its owner may read, because it contains the keys.

manifest.json       first: its format, date and migrations, and the kind of its database
secret_key          a key a line
database.sqlite3    or database.dump, of pg_dump
logs/<workload>/…   what the ranks printed
"""

import gzip
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO, Self

from config.upkeep.errors import UpkeepError

FORMAT = 1
MANIFEST = "manifest.json"
KEYS = "secret_key"
LOG_NAME = re.compile(r"logs/[0-9a-f-]{36}/[\w.-]+")
PRIVATE = 0o600
LEVEL = 3  # of gzip; logs compress well, and a backup should leave the CPU to others
BLOCK = 1024**2


@dataclass(frozen=True)
class Manifest:
    """The description of an archive, which is its first part."""

    database: str
    migrations: list[str]  # as app.name
    made_at: str
    format: int = FORMAT

    @classmethod
    def now(cls, database: str, migrations: list[str]) -> Self:
        return cls(database, sorted(migrations), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")

    def encode(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def decode(cls, text: bytes) -> Self:
        """Parse a manifest. Raises ``UpkeepError`` for a later format, because this version would
        ignore its new parts."""
        try:
            document = json.loads(text)
            if document["format"] > FORMAT:
                raise UpkeepError(
                    "The archive is from a newer Trainyard: its format is "
                    f"{document['format']}, and "
                    f"this version reads {FORMAT}. Restore it with that version."
                )
            return cls(**document)
        except (ValueError, KeyError, TypeError) as error:
            raise UpkeepError(
                "The archive is damaged: its manifest.json cannot be read."
            ) from error


class Writer:
    """Adds parts to an archive."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar

    def add_bytes(self, name: str, data: bytes) -> None:
        self.add_file(name, io.BytesIO(data), len(data))

    def add_file(self, name: str, source: BinaryIO, size: int, mode: int = PRIVATE) -> None:
        """Add the first ``size`` bytes of a file. It may have grown since."""
        member = tarfile.TarInfo(name)
        member.size = size
        member.mode = mode & 0o777
        member.mtime = int(datetime.now(UTC).timestamp())
        self.tar.addfile(member, source)


@contextmanager
def create_archive(path: Path) -> Iterator[Writer]:
    """Create an archive that is either complete on the disk or does not exist. An existing file is
    not replaced."""
    if path.exists():
        raise UpkeepError(f"{path} exists already. Choose another name.")
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)  # left by a backup that was killed
    try:
        with create_private(draft) as file:
            with (
                gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL) as zipped,
                tarfile.open(fileobj=zipped, mode="w|", format=tarfile.PAX_FORMAT) as tar,
            ):
                yield Writer(tar)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def create_private(path: Path) -> BinaryIO:
    """Create a file that only its owner can read from the start."""
    path.touch(mode=PRIVATE, exist_ok=False)
    return path.open("wb")


@dataclass(frozen=True)
class ArchivedFile:
    """A file of an archive."""

    name: str
    mode: int
    data: IO[bytes]

    def copy_to(self, path: Path) -> None:
        with create_private(path) as file:
            while block := self.data.read(BLOCK):
                if block.strip(b"\0"):
                    file.write(block)
                else:
                    file.seek(len(block), os.SEEK_CUR)  # a hole: the removed beginning of a log
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        path.chmod(self.mode)


def read_parts(path: Path) -> Iterator[ArchivedFile]:
    """Yield the parts of an archive in order. After the last, the checksum of the archive is
    verified. Use it within ``explain_damage``, because each part may be damaged."""
    with gzip.open(path, "rb") as zipped:
        with tarfile.open(fileobj=zipped, mode="r|") as tar:
            for member in tar:
                data = tar.extractfile(member) if member.isreg() else None
                if data is None:
                    raise UpkeepError(f"{path} is not a backup of Trainyard: {member.name}.")
                yield ArchivedFile(member.name, member.mode & 0o777, data)
        while zipped.read(BLOCK):
            pass


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Turn damage of an archive into ``UpkeepError``. The checksum is verified before other errors
    are reported, because a damaged archive may contain anything."""
    try:
        try:
            yield
        except UpkeepError:
            _verify_checksum(path)
            raise
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
        raise UpkeepError(f"{path} is damaged or not a backup of Trainyard: {error}") from error


def _verify_checksum(path: Path) -> None:
    with gzip.open(path, "rb") as zipped:
        while zipped.read(BLOCK):
            pass
