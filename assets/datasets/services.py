"""What people can do with datasets and their versions.

A version is begun, filled file by file, and finished. Until it is finished nobody can use it.
"""

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max

from accounts.models import User
from assets import services as assets
from assets.data_source.datasets import bucket, content, store
from assets.data_source.datasets.bucket import BucketFailed
from assets.data_source.datasets.model import DatasetFile, DatasetVersion, VersionStatus
from assets.data_source.datasets.store import StoredFile, UnfitFiles
from assets.data_source.datasets.uses import obstacle_to_delete
from assets.data_source.kind import DATA_SOURCE
from assets.data_source.model import DataSource
from audit import services as audit
from core.deletion import guard_deletion
from core.storage import require_space
from projects.scopes import OwningScope
from spec.data.data_source import SourceKind
from spec.problems.errors import Problem, SpecError

MOUNT_ROOT = "/data"
COMPLETE = "{} is complete, and never changes. Begin a new version."
TAKEN_OVER = "{} was begun again meanwhile, so what was written here is discarded."


class VersionComplete(Exception):
    """A version can no longer be filled."""


def create_dataset(
    name: str, *, scope: OwningScope, by: User, description: str = "", path: str = ""
) -> DataSource:
    """Create a dataset without versions. ``path`` is where pods find it; by default in ``/data``,
    by its name. Raises ``SpecError`` or ``PermissionDenied``."""
    return assets.create(
        DATA_SOURCE,
        by=by,
        name=name,
        scope=scope,
        description=description,
        document={
            "kind": SourceKind.DATASET.value,
            SourceKind.DATASET.value: {"path": path or f"{MOUNT_ROOT}/{name.strip()}"},
        },
    )


def begin_version(
    dataset: DataSource,
    *,
    by: User,
    pk: uuid.UUID | None = None,
    workflow_id: uuid.UUID | None = None,
    maker: str = "",
) -> DatasetVersion:
    """Return a version to fill. With a ``pk`` it is the same each time; what an earlier try wrote
    is discarded. Raises ``DiskFull``, ``PermissionDenied``, or ``VersionComplete``."""
    assets.check_editable(DATA_SOURCE, dataset, by)
    require_space()
    version, is_new = DatasetVersion.objects.get_or_create(
        pk=pk or uuid.uuid4(),
        defaults={
            "dataset": dataset,
            "created_by": by,
            "workflow_id": workflow_id,
            "maker": maker,
        },
    )
    if is_new:
        return version
    _check_pending(version)
    # A new key: another process may still write to the folder of the old one.
    abandoned = version.key
    version.key = uuid.uuid4()
    pending = DatasetVersion.objects.filter(pk=version.pk, status=VersionStatus.PENDING)
    if not pending.update(key=version.key):
        raise VersionComplete(COMPLETE.format(version))
    store.remove(abandoned)
    return version


def add_piece(version: DatasetVersion, *, path: str, offset: int, data: bytes, by: User) -> None:
    """Write a piece of a file. A file of several pieces is written from its beginning to its end;
    a piece may be sent again. Raises ``SpecError``, ``DiskFull``, ``PermissionDenied`` or
    ``VersionComplete``."""
    assets.check_editable(DATA_SOURCE, version.dataset, by)
    _check_pending(version)
    require_space()
    try:
        store.check_path(path)
        # After the commit, so that a dry run writes nothing. Usually there is no transaction, and
        # the piece is written here and now.
        transaction.on_commit(lambda: store.write_piece(version.key, path, offset, data))
    except UnfitFiles as error:
        raise SpecError([Problem(("path",), str(error))]) from error


def finish_version(
    version: DatasetVersion, *, by: User, between: Callable[[], None] = store.do_nothing
) -> DatasetVersion:
    """Complete a version, which gives it its number. It is safe to run twice. ``between`` is called
    after each part of a file. Raises ``SpecError``, ``PermissionDenied``, or ``VersionComplete`` if
    someone else began the version again."""
    assets.check_editable(DATA_SOURCE, version.dataset, by)
    if version.is_ready:
        return version
    try:
        files = store.seal(version.key, between)
        folder = _store_in_bucket(version, files, between) if bucket.is_used() else ""
    except (UnfitFiles, BucketFailed) as error:
        raise SpecError([Problem(("files",), str(error))]) from error
    with transaction.atomic():
        # The dataset is locked, so that two versions do not get the same number.
        DataSource.objects.select_for_update().get(pk=version.dataset_id)
        numbers = DatasetVersion.objects.filter(dataset=version.dataset_id)
        last = numbers.aggregate(last=Max("number"))["last"] or 0
        columns = {
            "status": VersionStatus.READY,
            "number": last + 1,
            "size": sum(file.size for file in files),
            "num_files": len(files),
            "bucket": folder,
        }
        # This UPDATE makes the version: a process that was killed before it left none, and of two
        # that filled the version only the one with its present key completes it.
        pending = DatasetVersion.objects.filter(
            pk=version.pk, status=VersionStatus.PENDING, key=version.key
        )
        if not pending.update(**columns):
            raise VersionComplete(TAKEN_OVER.format(version))
        DatasetFile.objects.bulk_create(_file_rows(version, files), batch_size=1000)
        version.refresh_from_db(fields=list(columns))
        audit.record(by, "create", version, after=_audit_facts(version))
        if folder:
            transaction.on_commit(lambda: store.remove(version.key))
    return version


def keep_files(
    version: DatasetVersion,
    files: Mapping[str, Path],
    *,
    by: User,
    between: Callable[[], None] = store.do_nothing,
) -> DatasetVersion:
    """Fill a version with files of this server, which are given by their paths in it, and complete
    it. ``between`` is called after each part of a file. Raises what :func:`finish_version` does,
    ``DiskFull`` and ``OSError``."""
    try:
        for path, file in files.items():
            require_space()
            store.copy_file(version.key, path, file, between)
    except UnfitFiles as error:
        raise SpecError([Problem(("files",), str(error))]) from error
    return finish_version(version, by=by, between=between)


def delete_version(version: DatasetVersion, *, by: User) -> None:
    """Delete a version and its files. Raises ``PermissionDenied``, or ``InUse`` while workloads
    that were submitted with it exist."""
    assets.check_editable(DATA_SOURCE, version.dataset, by, "delete")
    with guard_deletion(version, lambda: obstacle_to_delete(version, by)):
        audit.record(by, "delete", version, before=_audit_facts(version))
        key = version.key
        folder = version.bucket
        version.delete()
        transaction.on_commit(lambda: content.remove(key, folder))


def forget_workflow(workflow_id: uuid.UUID) -> None:
    """Keep versions that a workflow made without a link to it, because it is deleted."""
    DatasetVersion.objects.filter(workflow_id=workflow_id).update(workflow_id=None)


def _store_in_bucket(
    version: DatasetVersion, files: list[StoredFile], between: Callable[[], None]
) -> str:
    """Store the files of a version in S3, and return the bucket with their folder."""
    folder = bucket.folder_of(version.key)
    local = store.folder_of(version.key)
    for _ in bucket.store_files(folder, {file.path: local / file.path for file in files}):
        between()
    return folder


def _check_pending(version: DatasetVersion) -> None:
    if version.is_ready:
        raise VersionComplete(COMPLETE.format(version))


def _file_rows(version: DatasetVersion, files: list[StoredFile]) -> list[DatasetFile]:
    return [
        DatasetFile(version=version, path=file.path, size=file.size, sha256=file.sha256)
        for file in files
    ]


def _audit_facts(version: DatasetVersion) -> dict[str, Any]:
    return {
        "dataset": str(version.dataset),
        "number": version.number,
        "files": version.num_files,
        "bytes": version.size,
        "made by": version.maker,
    }
