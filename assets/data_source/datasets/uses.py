"""Which version of a dataset a workload mounts, and which workloads mount a version."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from accounts.models import User
from assets.data_source.datasets import bucket
from assets.data_source.datasets.model import DatasetVersion
from assets.data_source.datasets.store import folder_of
from assets.data_source.model import DataSource
from assets.links import link_tables
from clusters.models import Cluster
from core.deletion import Dependents, count_hidden
from core.words import count_nouns, first_names
from projects.models import Project
from projects.scopes import Scope
from spec.data.data_source import SourceKind

#: The kind of links to versions, which are not assets themselves.
VERSION = "dataset-version"
LATEST = "latest"
NO_VERSIONS = "has no versions yet; upload one first"
NO_DATASET = "only a dataset has versions; leave it empty"
ELSEWHERE = (
    "its files are on the disk of the server, and cluster {} cannot mount them; it needs datasets "
    "that are kept in S3"
)
NO_KEY = "the access key of the bucket with its files is gone; ask an administrator"


def is_dataset(source: DataSource) -> bool:
    spec = source.readable_spec
    return spec is not None and spec.kind is SourceKind.DATASET


def find_dataset(name: str, project: Project) -> DataSource | None:
    """Return the dataset with this name that workloads of a project can use; of several, that of
    the nearest scope."""
    rows = DataSource.objects.usable_in(project).filter(
        name=name, spec_json__kind=SourceKind.DATASET
    )
    nearest = [Scope.PROJECT, Scope.DEPARTMENT, Scope.CLUSTER, Scope.ACCOUNT]
    return min(rows, key=lambda row: nearest.index(Scope(row.scope)), default=None)


def find_version(dataset: DataSource, number: str = "") -> DatasetVersion | None:
    """Return a complete version by its number; without one, the latest. It needs no query if the
    dataset came with its versions."""
    versions = [version for version in dataset.versions.all() if version.is_ready]
    if number not in {"", LATEST}:
        return next((it for it in versions if str(it.number) == number), None)
    return max(versions, key=lambda version: version.number or 0, default=None)


def why_unfit(source: DataSource, number: str, cluster: Cluster | None) -> tuple[str, str]:
    """Return why a workload cannot mount a version: the field that is wrong, and what is wrong.
    Both are empty if it can."""
    if not is_dataset(source):
        return ("version", NO_DATASET) if number else ("", "")
    latest = find_version(source)
    if latest is None:
        return "id", NO_VERSIONS
    version = find_version(source, number)
    if version is None:
        message = f"{source} has no version {number}; the latest is {latest.number}"
        return "version", message
    if cluster and not version.bucket and not cluster.definition.is_one_machine:
        return "id", ELSEWHERE.format(cluster)
    if version.bucket and bucket.find_credential() is None:
        return "id", NO_KEY
    return "", ""


def volume_of(dataset: DataSource, number: str, path: str) -> tuple[str, dict[str, Any]] | None:
    """Return the list of a pod's ``storage`` and the item there that mounts a version at a path;
    ``None`` without such a version."""
    version = find_version(dataset, number)
    if version is None:
        return None
    if version.bucket:
        return _bucket_volume(version, path)
    item = {
        # A title has at most 63 characters.
        "name": f"{dataset.name[:50]}:{version.number}",
        "path": str(folder_of(version.key)),
        "mountPath": path,
        "readOnly": True,
    }
    return SourceKind.HOST_PATH.value, item


def _bucket_volume(version: DatasetVersion, path: str) -> tuple[str, dict[str, Any]]:
    """Return the volume of a version in S3, with the credential that opens it."""
    credential = bucket.find_credential()
    opened = {"assetId": str(credential.pk), "name": credential.name} if credential else None
    item = {
        "name": f"{version.dataset.name[:50]}:{version.number}",
        "bucket": version.bucket,
        "url": settings.DATASETS_S3_URL or None,
        "path": path,
        "credential": opened,
    }
    return SourceKind.S3.value, {key: value for key, value in item.items() if value}


def holders_of_version(version: DatasetVersion) -> Iterator[tuple[str, Any]]:
    """Yield what was made with a version: nouns, and rows of ``visible_to``."""
    for table in link_tables():
        yield table.noun(), table.holders_of_asset(VERSION, version.pk)


def obstacle_to_delete(version: DatasetVersion, by: User) -> str:
    """Return why ``by`` cannot delete a version now; empty if they can."""
    holders = list(holders_of_version(version))
    names = [
        f"{noun} {name}" for noun, rows in holders for name in first_names(rows.visible_to(by))
    ]
    hidden = count_nouns((count_hidden(rows, by), noun) for noun, rows in holders)
    return Dependents(names, hidden).refusal(f"{version} is used by", "Delete those first.")
