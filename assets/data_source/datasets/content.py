"""Read and remove the files of versions, wherever these are kept: in a folder, or in S3."""

import logging
from pathlib import Path
from uuid import UUID

from assets.data_source.datasets import bucket, store
from assets.data_source.datasets.bucket import BucketFailed
from assets.data_source.datasets.model import DatasetFile, DatasetVersion

log = logging.getLogger(__name__)


def read_part(file: DatasetFile, offset: int, length: int) -> bytes:
    """Return bytes of a file; none behind its end. Raises ``BucketFailed`` or another
    ``OSError``."""
    if offset >= file.size:
        return b""
    version = file.version
    if version.bucket:
        return bucket.read_part(version.bucket, file.path, offset, length)
    with store.open_file(version.key, file.path) as content:
        content.seek(offset)
        return content.read(length)


def local_files(version: DatasetVersion, scratch: Path) -> dict[str, Path]:
    """Return the files of a version on this server, by their paths in it. What is in S3 is
    downloaded to the folder ``scratch``."""
    paths = version.files.values_list("path", flat=True)
    if not version.bucket:
        return {path: store.folder_of(version.key) / path for path in paths}
    files = {path: scratch / path for path in paths}
    for path, target in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        bucket.fetch_file(version.bucket, path, target)
    return files


def remove(key: UUID, folder: str) -> None:
    """Remove the files of a version; ``folder`` is its bucket, if it is in one. What S3 does not
    remove now is removed by the upkeep."""
    store.remove(key)
    if folder:
        try:
            bucket.remove(folder)
        except BucketFailed as error:
            log.warning("%s could not be removed: %s", folder, error)
