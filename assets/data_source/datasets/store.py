"""The files of versions on the disk: a folder for each version, named by its key."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from uuid import UUID

from django.conf import settings

from assets.data_source.datasets.model import LONGEST_PATH
from core.words import count_nouns

PART = 16 * 1024 * 1024  # bytes that are copied at once
LONGEST_NAME = 255  # bytes of a file's name, on common file systems
MOST_FILES = 100_000  # of a version
READ_ONLY = 0o555


class UnfitFiles(ValueError):
    """Files that cannot be a version; the message says why."""


@dataclass(frozen=True)
class StoredFile:
    """A file of a version: its path in it, its size in bytes, and its digest."""

    path: str
    size: int
    sha256: str


def do_nothing() -> None:
    """What happens between the parts of a file, unless a caller says otherwise."""


def folder_of(key: UUID) -> Path:
    """Return the folder of a version."""
    return Path(settings.DATASETS) / key.hex


def check_path(path: str) -> str:
    """Return the path of a file in a version. ``UnfitFiles`` if there can be no such file."""
    parts = path.split("/")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise UnfitFiles(f"{path!r} is the path of a file, and no text in UTF-8") from error
    is_sound = all(part not in {"", ".", ".."} for part in parts) and "\0" not in path
    is_short = len(path) <= LONGEST_PATH and all(
        len(os.fsencode(it)) <= LONGEST_NAME for it in parts
    )
    if not (is_sound and is_short):
        raise UnfitFiles(f"{path!r} cannot be the path of a file; write one like images/1.png")
    return path


def write_piece(key: UUID, path: str, offset: int, data: bytes) -> None:
    """Write a piece of a file, which becomes as long as the end of the piece. ``UnfitFiles`` if
    what is before the piece is not there yet, or if the path is that of a folder."""
    file = folder_of(key) / path
    size = file.stat().st_size if file.is_file() else 0
    if offset > size:
        raise UnfitFiles(
            f"{path} has {size} bytes so far; send the piece that begins at offset {size}"
        )
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file.open("r+b" if file.exists() else "wb") as target:
            target.truncate(offset)
            target.seek(offset)
            target.write(data)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise UnfitFiles(f"{path} is a folder, or one of its folders is a file") from error


def copy_file(key: UUID, path: str, source: Path, between: Callable[[], None] = do_nothing) -> None:
    """Copy a file into a version. Whether it can be executed stays. ``between`` is called after
    each part."""
    target = folder_of(key) / check_path(path)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with source.open("rb") as content, target.open("wb") as copy:
        for part in _parts(content, between):
            copy.write(part)
    shutil.copymode(source, target)


def _parts(content: BinaryIO, between: Callable[[], None]) -> Iterator[bytes]:
    while part := content.read(PART):
        yield part
        between()


def seal(key: UUID, between: Callable[[], None] = do_nothing) -> list[StoredFile]:
    """Make the files of a version read-only, and return them. ``UnfitFiles`` if there are none, or
    too many. ``between`` is called after each part of a file."""
    folder = folder_of(key)
    paths = sorted(files_below(folder))
    if not paths:
        raise UnfitFiles("a version needs at least one file")
    if len(paths) > MOST_FILES:
        text = count_nouns([(len(paths), "file")])
        raise UnfitFiles(f"{text} are too many; a version has at most {MOST_FILES:,}, so pack them")
    return [_seal_file(folder, path, between) for path in paths]


def _seal_file(folder: Path, path: str, between: Callable[[], None]) -> StoredFile:
    file = folder / path
    digest = hashlib.sha256()
    with file.open("rb") as content:
        for part in _parts(content, between):
            digest.update(part)
    mode = file.stat().st_mode
    file.chmod(mode & READ_ONLY)
    return StoredFile(path, file.stat().st_size, digest.hexdigest())


def files_below(folder: Path) -> Iterator[str]:
    """Yield the path of each file below a folder. Of links only those count that lead to a file in
    it, so that none leads out of it."""
    root = folder.resolve()
    for parent, _, names in os.walk(root):
        for name in names:
            file = Path(parent, name)
            target = file.resolve()
            if target.is_file() and target.is_relative_to(root):
                yield str(PurePosixPath(file.relative_to(root)))


def open_file(key: UUID, path: str) -> BinaryIO:
    """Open a file of a version for reading."""
    return (folder_of(key) / check_path(path)).open("rb")


def remove(key: UUID) -> None:
    """Remove the folder of a version, if there is one."""
    shutil.rmtree(folder_of(key), ignore_errors=True)


def stored_keys() -> Iterator[UUID]:
    """Yield the keys of all folders that exist."""
    root = Path(settings.DATASETS)
    for folder in root.iterdir() if root.is_dir() else ():
        try:
            yield UUID(hex=folder.name)
        except ValueError:
            continue  # not one of ours
